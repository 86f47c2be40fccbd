import { describe, expect, it } from 'vitest';
import { envelope, findPlot, forceOn, plotIds, Span, toCsv } from '../src/chart';
import { Clock, formatTime } from '../src/clock';
import { decode, decodeLive, Live, type Frame, type Model, type Source } from '../src/data';
import { across, convexHull, inertiaBox, mass, quantile, ticks, withUnit } from '../src/geometry';
import { Kinematics } from '../src/kinematics';
import { isCovered } from '../src/labels';
import { readLink, writeLink } from '../src/link';
import { findMarks } from '../src/marks';
import { principal } from '../src/overlays';
import { rootsOf } from '../src/shapes';
import { tracked, Trails } from '../src/trails';

const empty: Model = { name: 'm', nq: 0, nv: 0, mass: 1, bodies: [], joints: [], meshes: [], shapes: [], frames: [], actuators: [], sensors: [], keys: [] };
const frame = (time: number, part: Partial<Frame> = {}): Frame => ({
  time, q: new Float32Array(0), v: new Float32Array(0), sensors: new Float32Array(0), kinematic: new Float32Array(0), kinetic: 0, potential: 0, residual: 0, iterations: 0, flags: 0,
  stages: new Float32Array(8), contacts: { count: 0, bodies: new Int32Array(0), data: new Float32Array(0), state: new Uint8Array(0) }, ...part,
});
const source = (frames: Frame[]): Source => ({ title: '', live: false, timeStep: 0.001, model: empty, count: () => frames.length, time: (i) => frames[i].time, frame: (i) => frames[i] });

describe('clock', () => {
  const times = { count: () => 5, time: (i: number) => 0.1 * i };

  it('plays, loops and stops', () => {
    const clock = new Clock(times);
    clock.advance(1);
    expect(clock.time()).toBe(0);
    clock.play();
    clock.advance(0.25);
    expect(clock.index()).toBe(2);
    expect(clock.share()).toBeCloseTo(0.5, 9);
    clock.advance(0.25);
    expect(clock.time()).toBe(0); // over the end
    clock.loop = false;
    clock.advance(9);
    expect(clock.time()).toBeCloseTo(0.4);
    expect(clock.playing).toBe(false);
  });

  it('scrubs and steps', () => {
    const clock = new Clock(times);
    clock.seek(99);
    expect(clock.index()).toBe(4);
    clock.step(-1);
    expect(clock.time()).toBeCloseTo(0.3);
    clock.seek(0.25);
    clock.step(-1);
    expect(clock.time()).toBeCloseTo(0.2);
    clock.step(1);
    expect(clock.time()).toBeCloseTo(0.3);
  });

  it('keeps to a slower speed', () => {
    const clock = new Clock(times);
    clock.speed = 0.1;
    clock.play();
    clock.advance(1);
    expect(clock.time()).toBeCloseTo(0.1);
  });

  it('survives an empty timeline', () => {
    const clock = new Clock({ count: () => 0, time: () => NaN });
    clock.play();
    clock.advance(1);
    clock.step(1);
    expect(clock.index()).toBe(0);
    expect(formatTime(clock.time())).toBe('0.000 s');
  });
});

describe('links', () => {
  it('come back as they were', () => {
    const link = { time: 1.25, eye: [1, 2, 3], target: [0, 0, 0.5], body: 'left foot', show: ['forces', 'grid'] };
    expect(readLink(writeLink(link))).toEqual({ ...link, camera: undefined, play: undefined });
  });

  it('ignore nonsense', () => {
    expect(readLink('#t=abc&eye=1,2&at=x,y,z')).toMatchObject({ time: undefined, eye: undefined, target: undefined });
  });
});

describe('marks', () => {
  it('find an impact and an unsolved step', () => {
    const frames = Array.from({ length: 100 }, (_, i) => frame(i / 100, { kinetic: i < 50 ? 10 : 4, flags: i === 70 ? 1 : 0 }));
    expect(findMarks(source(frames))).toEqual([{ time: 0.5, kind: 'impact' }, { time: 0.7, kind: 'unsolved' }]);
  });

  it('find nothing in free fall', () => {
    expect(findMarks(source(Array.from({ length: 50 }, (_, i) => frame(0.01 * i, { kinetic: i, potential: -i }))))).toEqual([]);
  });
});

describe('charts', () => {
  it('keep every peak', () => {
    const values = new Float64Array(1000);
    values[537] = 9;
    const times = values.map((_, i) => 0.01 * i);
    expect(Math.max(...envelope(times, values, 0, 9.99, 50).high)).toBe(9);
    expect(Math.max(...envelope(times, values, 6, 7, 50).high)).toBe(0); // the peak is outside
    expect(Math.max(...envelope(times, values, 5.3, 5.4, 100).high)).toBe(9);
    expect(envelope([0], [5], 0, 0, 10).low[0]).toBe(5);
  });

  it('zoom about a time and move within the ends', () => {
    const span = new Span();
    let drawn = 0;
    span.watch(() => (drawn += 1));
    span.zoom(4, 0.5, 0, 10);
    expect(span.range).toEqual([2, 7]); // 4 stays where it is
    span.move(9, 0, 10);
    expect(span.range).toEqual([5, 10]);
    span.zoom(6, 100, 0, 10);
    expect([span.range, drawn]).toEqual([null, 3]);
  });

  it('give their numbers as text', () => {
    expect(toCsv(['a', 'b, c'], [0, 0.5], [[1, 2], [3, 4]])).toBe('time,a,"b, c"\n0,1,3\n0.5,2,4\n');
  });

  it('have round ticks', () => {
    expect(ticks(0.03, 1.02, 5)).toEqual([0.2, 0.4, 0.6000000000000001, 0.8, 1]);
    expect(ticks(-3, 3, 3)).toEqual([-2, 0, 2]);
    expect(ticks(1, 1, 5)).toEqual([]);
  });

  it('sum forces with their sign', () => {
    const data = new Float32Array(22);
    data.set([1, 2, 3], 6);
    data.set([0, 0, 10], 17);
    const f = frame(0, { contacts: { count: 2, bodies: new Int32Array([0, 1, 1, 2]), data, state: new Uint8Array([1, 1]) } });
    expect(forceOn(f, 1)).toEqual([1, 2, -7]);
    expect(forceOn(f, 2)).toEqual([0, 0, 10]);
  });

  it('know what there is', () => {
    expect(findPlot(empty, 'energy')!.values(frame(0, { kinetic: 2, potential: 3 }))).toEqual([5, 2, 3]);
    expect(findPlot(empty, 'joint:none')).toBeNull();
    expect(findPlot(empty, 'nonsense')).toBeNull();
    const model = { ...empty, sensors: [{ name: 'knee', start: 0, size: 1 }, { name: 'imu', start: 1, size: 3 }, { name: 'tilt', start: 4, size: 4 }] };
    const f = frame(0, { sensors: Float32Array.from([7, 1, 2, 3, 9, 8, 6, 5]) });
    expect(plotIds(model).slice(-3)).toEqual([['sensor:knee', 'Sensor knee'], ['sensor:imu', 'Sensor imu'], ['sensor:tilt', 'Sensor tilt']]);
    expect(findPlot(model, 'sensor:knee')!.values(f)).toEqual([7]);
    expect([findPlot(model, 'sensor:imu')!.names, findPlot(model, 'sensor:imu')!.values(f)]).toEqual([['x', 'y', 'z'], [1, 2, 3]]);
    expect(findPlot(model, 'sensor:tilt')!.values(f)).toEqual([9, 8, 6, 5]);
    expect(findPlot(model, 'sensor:none')).toBeNull();
  });
});

describe('geometry', () => {
  it('finds hulls', () => {
    const square: [number, number][] = [[0, 0], [2, 0], [2, 2], [0, 2], [1, 1], [1, 0]];
    expect(convexHull(square)).toEqual([[0, 0], [2, 0], [2, 2], [0, 2]]);
    expect(convexHull([[1, 1]])).toEqual([[1, 1]]);
  });

  it('makes right angles', () => {
    for (const n of [[0, 0, 1], [1, 0, 0], [0.6, 0, 0.8]]) {
      const [u, v] = across(n);
      expect(Math.abs(u[0] * n[0] + u[1] * n[1] + u[2] * n[2])).toBeLessThan(1e-12);
      expect(Math.abs(u[0] * v[0] + u[1] * v[1] + u[2] * v[2])).toBeLessThan(1e-12);
      expect(Math.hypot(...v)).toBeCloseTo(1, 12);
    }
  });

  it('finds the box of an inertia', () => {
    const [a, b, c] = [0.2, 0.4, 0.6];
    const m = 3;
    const box = inertiaBox(m, (m * (b * b + c * c)) / 12, (m * (a * a + c * c)) / 12, (m * (a * a + b * b)) / 12);
    [a, b, c].forEach((x, i) => expect(box[i]).toBeCloseTo(x, 12));
  });

  it('finds principal axes', () => {
    const { axes, values } = principal([2, 2, 5, 1, 0, 0]);
    expect([...values].sort((x, y) => x - y).map((x) => Number(x.toFixed(9)))).toEqual([1, 3, 5]);
    const low = axes[values.findIndex((x) => Math.abs(x - 1) < 1e-9)];
    expect(Math.abs(low[0] + low[1])).toBeLessThan(1e-9);
  });

  it('writes numbers for people', () => {
    expect(withUnit(1234, 'N')).toBe('1.23 kN');
    expect(withUnit(0.00034, 'm')).toBe('340 µm');
    expect(withUnit(-5e-13, 'J')).toBe('0 J');
    expect(mass(13300)).toBe('13.3 t');
    expect(mass(0.25)).toBe('250 g');
    expect(quantile([3, 1, 2], 0.5)).toBe(2);
  });
});

describe('data', () => {
  it('refuses foreign and short bytes', () => {
    expect(() => decode(new ArrayBuffer(3))).toThrow('not a scene');
    expect(() => decode(new TextEncoder().encode('RGV1\xff\xff\xff\x7f').buffer as ArrayBuffer)).toThrow();
  });

  it('reads the poses of kinematic bodies of a recording, and does without', () => {
    const pack = (poses: boolean) => {
      const arrays = { time: ['f64', 0, 2], energy: ['f64', 16, 4], contactEnd: ['u32', 48, 2], bodies: ['i32', 56, 0], contacts: ['f32', 56, 0], state: ['u8', 56, 0],
        residual: ['f32', 56, 2], iterations: ['i32', 64, 2], flags: ['u8', 72, 2], stages: ['f32', 80, 16], ...(poses ? { kinematic: ['f32', 144, 14] } : {}) };
      const text = new TextEncoder().encode(JSON.stringify({ title: 't', live: false, timeStep: 1, frames: 2, scene: empty, arrays }));
      const base = Math.ceil((8 + text.length) / 8) * 8;
      const bytes = new Uint8Array(base + 200);
      bytes.set(new TextEncoder().encode('RGV1'));
      bytes.set(text, 8);
      const view = new DataView(bytes.buffer);
      view.setUint32(4, text.length, true);
      view.setFloat32(base + 144 + 4 * 7, 2.5, true); // x in the second frame
      return decode(bytes.buffer);
    };
    expect(pack(true).frame(0).kinematic[0]).toBe(0);
    expect(Array.from(pack(true).frame(1).kinematic)).toEqual([2.5, 0, 0, 0, 0, 0, 0]);
    expect(pack(false).frame(1).kinematic.length).toBe(0);
  });

  it('reads a frame of a running simulation', () => {
    const bytes = new Uint8Array(76 + 4 * (9 + 1 + 1 + 7 + 11) + 8 + 1 + 3);
    const view = new DataView(bytes.buffer);
    view.setFloat64(0, 1.5, true);
    view.setFloat64(24, 0.9, true);
    view.setFloat64(32, 0.001, true);
    [1, 7, 1, 2, 1, 1, 0, 1, 1].forEach((x, i) => view.setInt32(40 + 4 * i, x, true));
    view.setFloat32(76 + 4 * 8, 0.25, true); // residual
    view.setFloat32(76 + 4 * 9, 3, true); // q
    view.setFloat32(76 + 4 * 11, -2, true); // x of a kinematic body
    view.setFloat32(76 + 4 * 18 + 4 * 8, 9.5, true); // force along z
    view.setInt32(76 + 4 * 29 + 4, 4, true); // body B
    bytes[76 + 4 * 29 + 8] = 2;
    const { frame: f, model, realTime, paused } = decodeLive(bytes, { ...empty, nq: 1 });
    expect([f.time, f.iterations, f.flags, model, realTime, paused]).toEqual([1.5, 7, 1, 2, 0.9, true]);
    expect([f.residual, f.q[0], f.contacts.data[8], f.contacts.bodies[1], f.contacts.state[0]]).toEqual([0.25, 3, 9.5, 4, 2]);
    expect([f.kinematic.length, f.kinematic[0]]).toEqual([7, -2]);
  });

  it('forgets what a reset made untrue', () => {
    const live = new Live({ title: '', live: true, timeStep: 1, frames: 0, scene: empty, arrays: {} } as never, 3);
    for (const t of [0, 1, 2, 3]) live.add(frame(t));
    expect(live.count()).toBe(3);
    expect(live.time(0)).toBe(1);
    live.add(frame(0.5));
    expect(live.count()).toBe(1);
  });
});

const body = (name: string, parent: number, moves: boolean) => ({ name, parent, pose: [0, 0, 0, 1, 0, 0, 0], mass: 1, com: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0], moves });

describe('mechanisms', () => {
  const bodies = [body('table', 0, false), body('arm', 1, true), body('hand', 2, true), body('ball', 0, true)];

  it('are told apart by the body at their root', () => {
    expect(rootsOf({ ...empty, bodies })).toEqual([1, 2, 2, 4]);
    expect(tracked({ ...empty, bodies }, 0)).toEqual([2, 4]);
    expect(tracked({ ...empty, bodies }, 3)).toEqual([3]);
  });

  it('leave trails', () => {
    const slide = { name: 'x', body: 1, kind: 'prismatic' as const, q: 0, nq: 1, v: 0, nv: 1, anchor: [0, 0, 0], axis: [1, 0, 0], ref: 0 };
    const model = { ...empty, nq: 1, nv: 1, bodies: [body('cart', 0, true)], joints: [slide] };
    const frames = Array.from({ length: 11 }, (_, i) => frame(0.1 * i, { q: Float32Array.from([2 * i]) }));
    const trails = new Trails(model, new Kinematics(model));
    trails.update({ ...source(frames), model }, 0);
    expect([trails.bodies, trails.times.length, trails.points[0][30]]).toEqual([[1], 11, 20]);
    expect(trails.between(0.25, 0.6)).toEqual([3, 7]);
    frames.push(frame(1.1, { q: Float32Array.from([22]) }));
    trails.update({ ...source(frames), model }, 0);
    expect([trails.times.length, trails.points[0][33]]).toEqual([12, 22]);
  });
});

describe('labels', () => {
  it('leave out what would cover another', () => {
    const drawn = [{ x: 10, y: 10, width: 40 }];
    expect(isCovered({ x: 40, y: 15, width: 30 }, drawn)).toBe(true);
    expect(isCovered({ x: 51, y: 15, width: 30 }, drawn)).toBe(false);
    expect(isCovered({ x: 10, y: 26, width: 40 }, drawn)).toBe(false);
  });
});
