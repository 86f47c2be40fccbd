import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decode, type Joint, type Model } from '../src/data';
import { blend, Kinematics, makePoses, toBody, toWorld, velocity } from '../src/kinematics';

const joint = (part: Partial<Joint>): Joint => ({ name: 'j', body: 1, kind: 'revolute', q: 0, nq: 1, v: 0, nv: 1, anchor: [0, 0, 0], axis: [0, 0, 1], ref: 0, ...part });
const model = (joints: Joint[], nq: number): Model => ({
  name: 'm', nq, nv: nq, mass: 1, joints, meshes: [], shapes: [], frames: [], actuators: [], sensors: [], keys: [],
  bodies: [{ name: 'b', parent: 0, pose: [1, 0, 0, 1, 0, 0, 0], mass: 1, com: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0], moves: true }],
});
const at = (q: number[], kinematic: number[] = []) => ({ q, kinematic });

describe('forward kinematics', () => {
  it('turns about the anchor', () => {
    const m = model([joint({ anchor: [1, 0, 0] })], 1);
    const poses = makePoses(m);
    new Kinematics(m).forward(at([Math.PI / 2]), poses);
    // the anchor is at x = 2; the origin, one metre before it, swings to y = -1
    [2, -1, 0].forEach((x, k) => expect(poses[7 + k]).toBeCloseTo(x, 12));
    expect(toWorld(poses, 1, [1, 0, 0])[0]).toBeCloseTo(2, 12);
  });

  it('slides from the reference', () => {
    const m = model([joint({ kind: 'prismatic', axis: [0, 1, 0], ref: 0.5 })], 1);
    const poses = makePoses(m);
    new Kinematics(m).forward(at([2]), poses);
    expect(poses[8]).toBeCloseTo(1.5, 12);
  });

  it('takes the pose of a free joint as it is', () => {
    const m = model([joint({ kind: 'free', nq: 7, nv: 6 })], 7);
    const poses = makePoses(m);
    new Kinematics(m).forward(at([3, 4, 5, 0, 1, 0, 0]), poses);
    expect(Array.from(poses.subarray(7))).toEqual([3, 4, 5, 0, 1, 0, 0]);
    expect(toBody(poses, 1, toWorld(poses, 1, [0.1, 0.2, 0.3]))[2]).toBeCloseTo(0.3, 12);
  });

  it('puts kinematic bodies where they were told to be, and what is fixed to them', () => {
    const m = model([joint({ kind: 'prismatic', body: 3, axis: [1, 0, 0] })], 1);
    const part = m.bodies[0];
    m.bodies = [{ ...part, kinematic: true }, { ...part, parent: 1 }, part, { ...part, kinematic: true }];
    const poses = makePoses(m);
    const kin = new Kinematics(m);
    const half = Math.SQRT1_2;
    kin.forward(at([0.5], [0, 2, 0, half, 0, 0, half, 7, 8, 9, 1, 0, 0, 0]), poses);
    [0, 2, 0].forEach((x, k) => expect(poses[7 + k]).toBeCloseTo(x, 6));
    [0, 3, 0].forEach((x, k) => expect(poses[14 + k]).toBeCloseTo(x, 6)); // one metre along the turned x
    expect(poses[21]).toBeCloseTo(1.5, 6);
    expect(Array.from(poses.subarray(28, 31))).toEqual([7, 8, 9]);
    kin.forward(at([0.5]), poses); // a recording without poses
    expect([poses[7], poses[14], poses[21], poses[28]]).toEqual([1, 2, 1.5, 1]);
  });

  it('blends along the shorter way and measures velocity', () => {
    const m = model([joint({})], 1);
    const kin = new Kinematics(m);
    const [a, b, c] = [makePoses(m), makePoses(m), makePoses(m)];
    kin.forward(at([0]), a);
    kin.forward(at([0.2]), b);
    blend(a, b, 0.5, c);
    expect(2 * Math.asin(c[13])).toBeCloseTo(0.1, 6);
    expect(velocity(a, b, 1, 0.1)[5]).toBeCloseTo(2, 9);
  });
});

// The library's own poses: contact points recorded in the world lie on the bodies that touch.
describe.skipIf(!process.env.RIGOR)('against the library', () => {
  it('puts every body where the library has it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'rigor-web-'));
    const page = join(folder, 'page.html');
    execFileSync(process.env.RIGOR!, ['view', 'quadruped', '--export', page, '--time', '0.4'], { stdio: 'pipe' });
    const text = /<script id="rigor-data"[^>]*>([^<]*)</.exec(readFileSync(page, 'utf8'))![1];
    const bytes = gunzipSync(Buffer.from(text, 'base64'));
    const source = decode(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer);
    const kin = new Kinematics(source.model);
    const poses = makePoses(source.model);
    const said = execFileSync(process.env.RIGOR!, ['dynamics', 'quadruped', '--q', Array.from(source.frame(20).q).join(','), '--json'], { encoding: 'utf8' });
    const expected = JSON.parse(said) as { frames?: { name: string; position: number[] }[]; bodies?: { name: string; position: number[] }[] };
    kin.forward(source.frame(20), poses);
    const list = expected.frames ?? expected.bodies ?? [];
    expect(list.length).toBeGreaterThan(10);
    for (const { name, position } of list) {
      const body = source.model.bodies.findIndex((b) => b.name === name) + 1;
      if (body > 0) position.forEach((x, k) => expect(poses[7 * body + k]).toBeCloseTo(x, 5));
    }
  });
});
