// Charts over time: what they show, and how they are drawn.
import { CONTACT, STAGES, type Frame, type Model, type Source } from './data';
import { withUnit } from './geometry';
import { el, icon } from './dom';

export interface Plot {
  id: string;
  title: string;
  unit: string;
  log?: boolean;
  names: string[];
  values(frame: Frame): number[];
}

// Names of a sensor's values, by their number: a vector, a rotation.
const PARTS: Record<number, string[]> = { 3: ['x', 'y', 'z'], 4: ['w', 'x', 'y', 'z'] };

// Net contact force on a body.
export function forceOn(frame: Frame, body: number): [number, number, number] {
  const sum: [number, number, number] = [0, 0, 0];
  const { bodies, data, count } = frame.contacts;
  for (let i = 0; i < count; ++i) {
    const sign = bodies[2 * i + 1] === body ? 1 : bodies[2 * i] === body ? -1 : 0;
    for (let k = 0; sign !== 0 && k < 3; ++k) sum[k] += sign * data[CONTACT * i + 6 + k];
  }
  return sum;
}

export function findPlot(model: Model, id: string): Plot | null {
  const [kind, ...rest] = id.split(':');
  const name = rest.join(':');
  switch (kind) {
    case 'energy':
      return { id, title: 'Energy', unit: 'J', names: ['total', 'kinetic', 'potential'], values: (f) => [f.kinetic + f.potential, f.kinetic, f.potential] };
    case 'residual':
      return { id, title: 'Residual', unit: '', log: true, names: ['residual'], values: (f) => [f.residual] };
    case 'iterations':
      return { id, title: 'Iterations', unit: '', names: ['iterations'], values: (f) => [f.iterations] };
    case 'contacts':
      return { id, title: 'Contacts', unit: '', names: ['contacts'], values: (f) => [f.contacts.count] };
    case 'stages':
      return { id, title: 'Time per stage', unit: 's', names: STAGES, values: (f) => Array.from(f.stages) };
    case 'joint': {
      const joint = model.joints.find((j) => j.name === name && j.nq === 1);
      if (!joint) return null;
      return { id, title: name, unit: joint.kind === 'prismatic' ? 'm' : 'rad', names: ['position'], values: (f) => [f.q[joint.q]] };
    }
    case 'force': {
      const body = model.bodies.findIndex((b) => b.name === name) + 1;
      if (body === 0) return null;
      return { id, title: `Contact force, ${name}`, unit: 'N', names: ['force'], values: (f) => [Math.hypot(...forceOn(f, body))] };
    }
    case 'sensor': {
      const sensor = model.sensors.find((s) => s.name === name);
      if (!sensor) return null;
      const names = PARTS[sensor.size] ?? ['value'];
      return { id, title: `Sensor ${name}`, unit: '', names, values: (f) => names.map((_, i) => f.sensors[sensor.start + i] ?? 0) };
    }
    default:
      return null;
  }
}

export function plotIds(model: Model): [string, string][] {
  const basic: [string, string][] = [['energy', 'Energy'], ['residual', 'Residual'], ['iterations', 'Iterations'], ['contacts', 'Contacts'], ['stages', 'Time per stage']];
  const joints = model.joints.filter((j) => j.nq === 1).map((j) => [`joint:${j.name}`, `Joint ${j.name}`] as [string, string]);
  const forces = model.bodies.filter((b) => b.moves).map((b) => [`force:${b.name}`, `Force on ${b.name}`] as [string, string]);
  const sensors = model.sensors.map((s) => [`sensor:${s.name}`, `Sensor ${s.name}`] as [string, string]);
  return basic.concat(joints.slice(0, 200), forces.slice(0, 200), sensors.slice(0, 100));
}

// Smallest and largest value of each pixel column, so that no peak is lost.
export function envelope(values: ArrayLike<number>, columns: number): { low: Float64Array; high: Float64Array } {
  const low = new Float64Array(columns).fill(Infinity);
  const high = new Float64Array(columns).fill(-Infinity);
  const n = values.length;
  for (let i = 0; i < n; ++i) {
    const c = n > 1 ? Math.min(columns - 1, Math.floor((i * columns) / (n - 1 || 1))) : 0;
    low[c] = Math.min(low[c], values[i]);
    high[c] = Math.max(high[c], values[i]);
  }
  return { low, high };
}

export class Chart {
  readonly element: HTMLElement;
  private canvas = el('canvas');
  private head = el('div', { className: 'head' });
  private label = el('span');
  private columns: Float64Array[] = [];
  private counted = -1;
  private last = -1;

  constructor(readonly plot: Plot, private source: Source, onclose: () => void) {
    const close = el('button', { className: 'icon', type: 'button', title: 'Remove this chart', onclick: onclose }, icon('close'));
    this.element = el('div', { className: 'chart' }, el('header', {}, el('b', {}, plot.title), this.label, close), el('div', { className: 'plot' }, this.canvas, this.head));
  }

  private collect(): void {
    const n = this.source.count();
    const end = n > 0 ? this.source.time(n - 1) : 0;
    if (n === this.counted && end === this.last) return;
    this.columns = this.plot.names.map(() => new Float64Array(n));
    for (let i = 0; i < n; ++i) {
      this.plot.values(this.source.frame(i)).forEach((x, k) => (this.columns[k][i] = this.plot.log ? Math.log10(Math.max(x, 1e-12)) : x));
    }
    this.counted = n;
    this.last = end;
  }

  draw(): void {
    const style = getComputedStyle(document.documentElement);
    const inks = ['--accent', '--warm', '--stick', '--ink-3', '--slip', '--bad', '--ink-2'].map((v) => style.getPropertyValue(v).trim());
    const ratio = window.devicePixelRatio || 1;
    const width = Math.max(1, Math.floor(this.canvas.clientWidth * ratio));
    const height = Math.max(1, Math.floor(this.canvas.clientHeight * ratio));
    this.canvas.width = width;
    this.canvas.height = height;
    this.collect();
    let low = Infinity;
    let high = -Infinity;
    for (const column of this.columns) {
      for (const x of column) {
        low = Math.min(low, x);
        high = Math.max(high, x);
      }
    }
    if (!(high >= low)) return;
    if (high - low < 1e-9 * Math.max(Math.abs(high), 1e-9)) {
      low -= 0.5 * Math.max(Math.abs(low), 1e-6);
      high += 0.5 * Math.max(Math.abs(high), 1e-6);
    }
    const g = this.canvas.getContext('2d')!;
    const pad = 6 * ratio;
    const y = (v: number) => height - pad - ((v - low) / (high - low)) * (height - 2 * pad);
    g.strokeStyle = style.getPropertyValue('--line').trim();
    g.lineWidth = ratio;
    for (const v of [low, high]) {
      g.beginPath();
      g.moveTo(0, y(v));
      g.lineTo(width, y(v));
      g.stroke();
    }
    for (let k = this.columns.length - 1; k >= 0; --k) {
      const { low: a, high: b } = envelope(this.columns[k], width);
      g.strokeStyle = inks[k % inks.length];
      g.lineWidth = 1.4 * ratio;
      g.beginPath();
      let begun = false;
      for (let x = 0; x < width; ++x) {
        if (!(b[x] >= a[x])) continue;
        if (begun) g.lineTo(x, y(b[x]));
        else g.moveTo(x, y(b[x]));
        if (a[x] < b[x]) g.lineTo(x, y(a[x]));
        begun = true;
      }
      g.stroke();
    }
    const text = (v: number) => (this.plot.log ? `1e${v.toFixed(0)}` : withUnit(v, this.plot.unit));
    g.fillStyle = style.getPropertyValue('--ink-3').trim();
    g.font = `${10 * ratio}px ${style.getPropertyValue('--mono')}`;
    g.textBaseline = 'top';
    g.fillText(text(high), 2 * ratio, y(high) + 2 * ratio);
    g.textBaseline = 'bottom';
    g.fillText(text(low), 2 * ratio, y(low) - 2 * ratio);
  }

  mark(time: number, frame: Frame): void {
    const n = this.source.count();
    const [a, b] = n > 0 ? [this.source.time(0), this.source.time(n - 1)] : [0, 1];
    this.head.style.left = `${(100 * (time - a)) / Math.max(b - a, 1e-9)}%`;
    const v = this.plot.values(frame);
    const text = this.plot.log ? v[0].toExponential(1) : withUnit(v[0], this.plot.unit);
    if (this.label.textContent !== text) this.label.textContent = text;
  }
}
