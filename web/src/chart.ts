// Charts over time: what they show, and how they are drawn.
import { CONTACT, STAGES, type Frame, type Model, type Source } from './data';
import { ticks, withUnit } from './geometry';
import { download, el, icon } from './dom';

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

// Smallest and largest value of each pixel column between two times, so that no peak is lost.
export function envelope(times: ArrayLike<number>, values: ArrayLike<number>, from: number, to: number, columns: number): { low: Float64Array; high: Float64Array } {
  const low = new Float64Array(columns).fill(Infinity);
  const high = new Float64Array(columns).fill(-Infinity);
  const scale = to > from ? columns / (to - from) : 0;
  for (let i = 0; i < values.length; ++i) {
    const c = Math.min(columns - 1, Math.floor((times[i] - from) * scale));
    if (!(times[i] >= from) || !(times[i] <= to)) continue;
    low[c] = Math.min(low[c], values[i]);
    high[c] = Math.max(high[c], values[i]);
  }
  return { low, high };
}

// The part of the time that all charts show; null: all of it.
export class Span {
  range: [number, number] | null = null;
  private users = new Set<() => void>();

  watch(draw: () => void): () => void {
    this.users.add(draw);
    return () => this.users.delete(draw);
  }

  set(range: [number, number] | null): void {
    this.range = range;
    for (const draw of this.users) draw();
  }

  // Make the span longer (factor > 1) or shorter about a time, within what there is.
  zoom(about: number, factor: number, begin: number, end: number): void {
    const [a, b] = this.range ?? [begin, end];
    const from = Math.max(begin, about - (about - a) * factor);
    const to = Math.min(end, about + (b - about) * factor);
    if (to - from > 1e-6 * (end - begin)) this.set(to - from > 0.999 * (end - begin) ? null : [from, to]);
  }

  move(by: number, begin: number, end: number): void {
    if (!this.range) return;
    const [a, b] = this.range;
    const shift = Math.min(Math.max(by, begin - a), end - b);
    this.set([a + shift, b + shift]);
  }
}

// Rows of text: the time, then a column for each series.
export function toCsv(names: string[], times: ArrayLike<number>, columns: ArrayLike<number>[]): string {
  const quote = (name: string) => (/[",\n]/.test(name) ? `"${name.replace(/"/g, '""')}"` : name);
  const rows = [['time', ...names].map(quote).join(',')];
  for (let i = 0; i < times.length; ++i) rows.push([times[i], ...columns.map((c) => c[i])].join(','));
  return rows.join('\n') + '\n';
}

const INKS = ['--accent', '--warm', '--stick', '--ink-3', '--slip', '--bad', '--ink-2'];
const LEFT = 44; // room for the numbers [px]
const BOTTOM = 15;
const TOP = 5;

export class Chart {
  readonly element: HTMLElement;
  private canvas = el('canvas');
  private area: HTMLElement;
  private head = el('div', { className: 'head' });
  private legend = el('div', { className: 'legend' });
  private values: HTMLElement[] = [];
  private hidden = new Set<number>();
  private times = new Float64Array(0);
  private columns: Float64Array[] = [];
  private counted = -1;
  private last = -1;
  private pointer: number | null = null; // time under the pointer
  private forget: () => void;

  constructor(readonly plot: Plot, private source: Source, private span: Span, private onseek: (time: number) => void, onclose: () => void) {
    const button = (name: string, title: string, onclick: () => void) => el('button', { className: 'icon', type: 'button', title, 'aria-label': title, onclick }, icon(name));
    this.area = el('div', { className: 'plot', title: 'Scroll to zoom, drag to move, double-click to see all, click to go there' }, this.canvas, this.head);
    this.element = el('div', { className: 'chart' },
      el('header', {}, el('b', { title: plot.title }, plot.title), this.legend, el('span', { className: 'space' }),
        button('save', 'Save as CSV', () => this.save()), button('close', 'Remove this chart', () => { this.forget(); onclose(); })),
      this.area);
    plot.names.forEach((name, k) => {
      const value = el('span');
      const dot = el('span', { className: 'swatch' });
      dot.style.background = `var(${INKS[k % INKS.length]})`;
      const entry = el('button', { className: 'entry', type: 'button', title: `Show or hide ${name}` }, dot, plot.names.length > 1 ? name : null, value);
      entry.addEventListener('click', () => {
        if (!this.hidden.delete(k)) this.hidden.add(k);
        entry.classList.toggle('off', this.hidden.has(k));
        this.draw();
      });
      this.values.push(value);
      this.legend.append(entry);
    });
    this.forget = span.watch(() => this.draw());
    this.listen();
  }

  private ends(): [number, number] {
    const n = this.source.count();
    return n > 0 ? [this.source.time(0), this.source.time(n - 1)] : [0, 1];
  }

  private shown(): [number, number] {
    return this.span.range ?? this.ends();
  }

  private timeAt(x: number): number {
    const box = this.area.getBoundingClientRect();
    const [a, b] = this.shown();
    return a + (Math.min(Math.max((x - box.left - LEFT) / Math.max(box.width - LEFT, 1), 0), 1)) * (b - a);
  }

  private listen(): void {
    let grip: { x: number; moved: boolean } | null = null;
    this.area.addEventListener('wheel', (e) => {
      e.preventDefault();
      this.span.zoom(this.timeAt(e.clientX), Math.exp(0.0015 * e.deltaY), ...this.ends());
    }, { passive: false });
    this.area.addEventListener('pointerdown', (e) => {
      grip = { x: e.clientX, moved: false };
      this.area.setPointerCapture(e.pointerId);
    });
    this.area.addEventListener('pointermove', (e) => {
      this.pointer = this.timeAt(e.clientX);
      if (grip && (grip.moved || Math.abs(e.clientX - grip.x) > 3)) {
        const [a, b] = this.shown();
        this.span.move(((grip.x - e.clientX) / Math.max(this.area.clientWidth - LEFT, 1)) * (b - a), ...this.ends());
        grip = { x: e.clientX, moved: true };
      }
    });
    this.area.addEventListener('pointerup', (e) => {
      if (grip && !grip.moved) this.onseek(this.timeAt(e.clientX));
      grip = null;
    });
    this.area.addEventListener('pointerleave', () => (this.pointer = null));
    this.area.addEventListener('dblclick', () => this.span.set(null));
  }

  private collect(): void {
    const n = this.source.count();
    const end = n > 0 ? this.source.time(n - 1) : 0;
    if (n === this.counted && end === this.last) return;
    this.columns = this.plot.names.map(() => new Float64Array(n));
    this.times = new Float64Array(n);
    for (let i = 0; i < n; ++i) {
      this.times[i] = this.source.time(i);
      this.plot.values(this.source.frame(i)).forEach((x, k) => (this.columns[k][i] = x));
    }
    this.counted = n;
    this.last = end;
  }

  csv(): string {
    this.collect();
    return toCsv(this.plot.names, this.times, this.columns);
  }

  private save(): void {
    download(`${this.plot.title.replace(/[^\w.-]+/g, '_')}.csv`, new Blob([this.csv()], { type: 'text/csv' }));
  }

  private scaled(x: number): number {
    return this.plot.log ? Math.log10(Math.max(x, 1e-12)) : x;
  }

  draw(): void {
    const style = getComputedStyle(document.documentElement);
    const ink = (name: string) => style.getPropertyValue(name).trim();
    const ratio = window.devicePixelRatio || 1;
    const width = Math.max(1, Math.floor(this.canvas.clientWidth));
    const height = Math.max(1, Math.floor(this.canvas.clientHeight));
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    this.collect();
    const [from, to] = this.shown();
    const pixels = Math.max(1, width - LEFT);
    const parts = this.columns.map((column, k) => (this.hidden.has(k) ? null : envelope(this.times, this.plot.log ? column.map((x) => this.scaled(x)) : column, from, to, pixels)));
    let low = Infinity;
    let high = -Infinity;
    for (const part of parts) {
      for (let x = 0; part && x < pixels; ++x) {
        low = Math.min(low, part.low[x]);
        high = Math.max(high, part.high[x]);
      }
    }
    if (!(high >= low)) return;
    if (high - low < 1e-9 * Math.max(Math.abs(high), 1e-9)) {
      low -= 0.5 * Math.max(Math.abs(low), 1e-6);
      high += 0.5 * Math.max(Math.abs(high), 1e-6);
    }
    const g = this.canvas.getContext('2d')!;
    g.scale(ratio, ratio);
    const y = (v: number) => height - BOTTOM - ((v - low) / (high - low)) * (height - BOTTOM - TOP);
    const x = (t: number) => LEFT + ((t - from) / Math.max(to - from, 1e-12)) * pixels;
    g.strokeStyle = ink('--line');
    g.fillStyle = ink('--ink-3');
    g.font = `10px ${ink('--mono')}`;
    g.lineWidth = 1;
    g.textAlign = 'right';
    g.textBaseline = 'middle';
    const text = (v: number) => (this.plot.log ? `1e${Number(v.toFixed(1))}` : withUnit(v, this.plot.unit));
    for (const v of ticks(low, high, Math.max(2, Math.floor(height / 34)))) {
      g.beginPath();
      g.moveTo(LEFT, y(v));
      g.lineTo(width, y(v));
      g.stroke();
      g.fillText(text(v), LEFT - 4, y(v));
    }
    g.textBaseline = 'bottom';
    for (const t of ticks(from, to, Math.max(2, Math.floor(pixels / 80)))) {
      g.beginPath();
      g.moveTo(x(t), TOP);
      g.lineTo(x(t), height - BOTTOM);
      g.stroke();
      g.textAlign = x(t) < LEFT + 14 ? 'left' : x(t) > width - 20 ? 'right' : 'center';
      g.fillText(withUnit(t, 's'), x(t), height);
    }
    for (let k = this.columns.length - 1; k >= 0; --k) {
      const part = parts[k];
      if (!part) continue;
      g.strokeStyle = ink(INKS[k % INKS.length]);
      g.lineWidth = 1.4;
      g.beginPath();
      let begun = false;
      for (let i = 0; i < pixels; ++i) {
        if (!(part.high[i] >= part.low[i])) continue;
        if (begun) g.lineTo(LEFT + i, y(part.high[i]));
        else g.moveTo(LEFT + i, y(part.high[i]));
        if (part.low[i] < part.high[i]) g.lineTo(LEFT + i, y(part.low[i]));
        begun = true;
      }
      g.stroke();
    }
  }

  // The line of the time, and values there, or where the pointer is.
  mark(time: number, frame: Frame): void {
    const [a, b] = this.shown();
    const at = this.pointer ?? time;
    const share = (at - a) / Math.max(b - a, 1e-12);
    this.head.hidden = share < 0 || share > 1;
    this.head.style.left = `calc(${LEFT}px + ${share} * (100% - ${LEFT}px))`;
    let v = this.plot.values(frame);
    if (this.pointer !== null && this.times.length > 0) {
      let i = this.times.findIndex((t) => t >= at - 1e-12);
      if (i < 0) i = this.times.length - 1;
      v = this.columns.map((c) => c[i]);
    }
    this.values.forEach((value, k) => {
      const text = this.plot.log ? v[k].toExponential(1) : withUnit(v[k], this.plot.unit);
      if (value.textContent !== text) value.textContent = text;
    });
  }
}
