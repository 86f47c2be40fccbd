// Ways that bodies took: their centers of mass over the last seconds.
import type { Frame, Model, Source } from './data';
import { Kinematics, makePoses, toWorld, type Poses } from './kinematics';

const MOST = 1200; // points of a way

// Bodies whose ways are drawn: the selected one, or the roots of all that moves.
export function tracked(model: Model, selected: number): number[] {
  if (selected > 0) return [selected];
  const roots: number[] = [];
  model.bodies.forEach((body, i) => {
    if (body.moves && body.mass > 0 && (body.parent === 0 || !model.bodies[body.parent - 1].moves)) roots.push(i + 1);
  });
  return roots.slice(0, 40);
}

export class Trails {
  times: number[] = [];
  points: number[][] = []; // by body, three numbers per time
  bodies: number[] = [];
  private poses: Poses;

  constructor(private model: Model, private kinematics: Kinematics) {
    this.poses = makePoses(model);
  }

  clear(): void {
    this.times = [];
    this.points = this.bodies.map(() => []);
  }

  private add(frame: Frame): void {
    this.kinematics.forward(frame, this.poses);
    this.times.push(frame.time);
    this.bodies.forEach((body, k) => this.points[k].push(...toWorld(this.poses, body, this.model.bodies[body - 1].com)));
  }

  // All frames of a recording; of a running simulation those that are new.
  update(source: Source, selected: number): void {
    const bodies = tracked(this.model, selected);
    const n = source.count();
    const last = () => (this.times.length > 0 ? this.times[this.times.length - 1] : -Infinity);
    if (bodies.join() !== this.bodies.join() || (n > 0 && source.time(n - 1) < last() - 1e-9)) {
      this.bodies = bodies;
      this.clear();
    }
    if (n === 0 || source.time(n - 1) <= last()) return;
    const stride = source.live ? 1 : Math.max(1, Math.ceil(n / MOST));
    let from = n - 1;
    while (from > 0 && source.time(from - 1) > last()) from -= 1;
    for (let i = from; i < n; i += stride) this.add(source.frame(i));
    if (!source.live && last() < source.time(n - 1)) this.add(source.frame(n - 1));
    const excess = source.live ? this.times.length - 3600 : 0;
    if (excess > 0) {
      this.times.splice(0, excess);
      for (const way of this.points) way.splice(0, 3 * excess);
    }
  }

  // Points between two times: first and one past the last.
  between(from: number, to: number): [number, number] {
    let first = 0;
    while (first < this.times.length && this.times[first] < from - 1e-9) first += 1;
    let end = first;
    while (end < this.times.length && this.times[end] <= to + 1e-9) end += 1;
    return [first, end];
  }
}
