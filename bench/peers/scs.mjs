// SCS on convex contact problems: node scs.mjs PROBLEMS.json prints for each, in a line, the seconds
// of set-up and solve, the iterations, and the impulses.
import { readFileSync } from 'node:fs';
import createSCS from 'scs-solver';

const { problems, tolerance, iterations } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const SCS = await createSCS();
const settings = new SCS.ScsSettings();
SCS.setDefaultSettings(settings);
settings.epsAbs = tolerance;
settings.epsRel = 0;
settings.maxIters = iterations;
settings.verbose = 0;

const quiet = console.log;
console.log = () => {};
// Twice each: the first call also compiles. Times are SCS's own, in milliseconds.
const answers = problems.map(({ data, cone }) => {
    const runs = [0, 1].map(() => SCS.solve(data, cone, settings));
    const times = runs.map(({ info }) => (info.setupTime + info.solveTime) / 1e3);
    return { seconds: Math.min(...times), iterations: runs[0].info.iter, x: Array.from(runs[0].x) };
});
console.log = quiet;
for (const { seconds, iterations: count, x } of answers) {
    console.log(seconds, count, x.length, x.join(' '));
}
