// Marks on the timeline: impacts, and steps that were not solved.
import { REGULARIZED, UNSOLVED, type Source } from './data';

export interface Mark {
  time: number;
  kind: 'impact' | 'unsolved' | 'regularized';
}

// An impact takes energy at once: more than a fiftieth of the largest kinetic energy from one frame
// to the next, and more than three times as much as the frame before. Neighbours become one mark.
export function findMarks(source: Source): Mark[] {
  const n = source.count();
  const marks: Mark[] = [];
  const energy = new Float64Array(n);
  let peak = 0;
  for (let i = 0; i < n; ++i) {
    const f = source.frame(i);
    energy[i] = f.kinetic + f.potential;
    peak = Math.max(peak, f.kinetic);
    if (f.flags & UNSOLVED) marks.push({ time: f.time, kind: 'unsolved' });
    else if (f.flags & REGULARIZED) marks.push({ time: f.time, kind: 'regularized' });
  }
  const span = n > 1 ? source.time(n - 1) - source.time(0) : 0;
  let before = 0;
  let last = -Infinity;
  for (let i = 1; i < n; ++i) {
    const loss = energy[i - 1] - energy[i];
    const time = source.time(i);
    if (peak > 0 && loss > 0.02 * peak && loss > 3 * before && time - last > 0.01 * span) {
      marks.push({ time, kind: 'impact' });
      last = time;
    }
    before = Math.max(loss, 0);
  }
  return marks.sort((a, b) => a.time - b.time);
}
