// What the page shows: a model, and frames of its motion. Frames come from a recording, packed into
// one block of bytes, or one by one from a running simulation.

export interface Body {
  name: string;
  parent: number; // from 1; 0 is the world
  pose: number[]; // x y z, then w x y z
  mass: number;
  com: number[];
  inertia: number[]; // xx yy zz xy xz yz
  moves: boolean;
  kinematic?: boolean; // moves as it is told; its poses are in Frame.kinematic
}

export interface Joint {
  name: string;
  body: number;
  kind: 'fixed' | 'revolute' | 'prismatic' | 'spherical' | 'free' | 'planar';
  q: number;
  nq: number;
  v: number;
  nv: number;
  anchor: number[];
  axis: number[];
  ref: number;
  t1?: number[];
  t2?: number[];
  limits?: number[];
}

export interface Field {
  columns: number;
  rows: number;
  sizeX: number;
  sizeY: number;
  depth: number;
  h: string;
}

export interface Shape {
  name: string;
  body: number;
  kind: 'none' | 'plane' | 'sphere' | 'capsule' | 'cylinder' | 'box' | 'ellipsoid' | 'hull' | 'field' | 'mesh';
  visual: boolean;
  hidden?: boolean;
  pose: number[];
  size: number[];
  color: number[];
  rounding?: number;
  mesh?: number;
  field?: Field;
}

export interface Model {
  name: string;
  nq: number;
  nv: number;
  mass: number;
  gravity?: number[];
  bodies: Body[];
  joints: Joint[];
  meshes: { vertices: number; triangles: number; v: string; f: string }[];
  shapes: Shape[];
  frames: { name: string; body: number; pose: number[]; fov?: number }[]; // fov: of a camera
  actuators: { name: string; range?: [number, number] }[];
  sensors: { name: string; start: number; size: number }[]; // place in Frame.sensors
  keys: { name: string }[];
}

export const STAGES = ['kinematics', 'collide', 'dynamics', 'assemble', 'solve', 'velocity', 'position', 'project'];
export const OPEN = 0;
export const STICK = 1;
export const SLIP = 2;
export const UNSOLVED = 1; // bits of flags
export const REGULARIZED = 2;

// Numbers of one contact in `data`: point 0-2, normal 3-5, force on B 6-8, gap 9, mu 10.
export const CONTACT = 11;

export interface Contacts {
  count: number;
  bodies: Int32Array; // A, B per contact
  data: Float32Array; // CONTACT per contact
  state: Uint8Array;
}

export interface Frame {
  time: number;
  q: Float32Array;
  v: Float32Array;
  sensors: Float32Array;
  kinematic: Float32Array; // poses of the kinematic bodies, in their order; empty: as the model has them
  kinetic: number;
  potential: number;
  residual: number;
  iterations: number;
  flags: number;
  stages: Float32Array;
  contacts: Contacts;
}

export interface Source {
  title: string;
  live: boolean;
  timeStep: number;
  model: Model;
  count(): number;
  time(index: number): number;
  frame(index: number): Frame;
}

interface Header {
  title: string;
  live: boolean;
  ghost?: boolean;
  timeStep: number;
  frames: number;
  scene: Model;
  arrays: Record<string, [string, number, number]>; // type, offset, count
}

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

export function floats(text: string): Float32Array {
  return new Float32Array(fromBase64(text).buffer);
}

export function integers(text: string): Uint32Array {
  return new Uint32Array(fromBase64(text).buffer);
}

export async function gunzip(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

const TYPES: Record<string, { new (b: ArrayBuffer, o: number, n: number): ArrayLike<number> }> = {
  u8: Uint8Array,
  i32: Int32Array,
  u32: Uint32Array,
  f32: Float32Array,
  f64: Float64Array,
};

function readHeader(bytes: ArrayBuffer): { header: Header; base: number } {
  const magic = bytes.byteLength >= 8 ? new TextDecoder().decode(bytes.slice(0, 4)) : '';
  if (magic !== 'RGV1') throw new Error('These bytes are not a scene of rigor.');
  const length = new DataView(bytes).getUint32(4, true);
  if (8 + length > bytes.byteLength) throw new Error('The scene is cut short.');
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 8, length))) as Header;
  return { header, base: Math.ceil((8 + length) / 8) * 8 };
}

// A whole recording, in columns.
export class Recording implements Source {
  readonly title: string;
  readonly live = false;
  readonly hasGhost: boolean; // a second recording comes with it
  readonly timeStep: number;
  readonly model: Model;
  private readonly n: number;
  private readonly columns: Record<string, ArrayLike<number>> = {};

  constructor(bytes: ArrayBuffer, header: Header, base: number) {
    this.title = header.title;
    this.hasGhost = header.ghost ?? false;
    this.timeStep = header.timeStep;
    this.model = header.scene;
    this.n = header.frames;
    for (const [name, [type, offset, count]] of Object.entries(header.arrays)) {
      const Type = TYPES[type];
      if (!Type) throw new Error(`The scene has numbers of an unknown kind: ${type}.`);
      this.columns[name] = new Type(bytes, base + offset, count);
    }
  }

  count(): number {
    return this.n;
  }

  time(index: number): number {
    return this.columns.time[index];
  }

  private row(name: string, index: number, width: number): Float32Array {
    const column = this.columns[name] as Float32Array | undefined;
    return column ? column.subarray(index * width, (index + 1) * width) : new Float32Array(0);
  }

  frame(index: number): Frame {
    const c = this.columns;
    const begin = index > 0 ? c.contactEnd[index - 1] : 0;
    const end = c.contactEnd[index];
    const width = (name: string) => (c[name] ? c[name].length / this.n : 0);
    return {
      time: c.time[index],
      q: this.row('q', index, this.model.nq),
      v: this.row('v', index, this.model.nv),
      sensors: this.row('sensors', index, width('sensors')),
      kinematic: this.row('kinematic', index, width('kinematic')),
      kinetic: c.energy[2 * index],
      potential: c.energy[2 * index + 1],
      residual: c.residual[index],
      iterations: c.iterations[index],
      flags: c.flags[index],
      stages: this.row('stages', index, STAGES.length),
      contacts: {
        count: end - begin,
        bodies: (c.bodies as Int32Array).subarray(2 * begin, 2 * end),
        data: (c.contacts as Float32Array).subarray(CONTACT * begin, CONTACT * end),
        state: (c.state as Uint8Array).subarray(begin, end),
      },
    };
  }
}

// A running simulation: its last frames, oldest first.
export class Live implements Source {
  readonly title: string;
  readonly live = true;
  timeStep: number;
  model: Model;
  realTime = 0;
  paused = false;
  stopped = false; // paused by itself
  private frames: Frame[] = [];

  constructor(header: Header, private readonly capacity = 3600) {
    this.title = header.title;
    this.timeStep = header.timeStep;
    this.model = header.scene;
  }

  count(): number {
    return this.frames.length;
  }

  time(index: number): number {
    return this.frames[index].time;
  }

  frame(index: number): Frame {
    return this.frames[index];
  }

  clear(): void {
    this.frames = [];
  }

  // Time that goes back is a reset: what was after it is forgotten.
  add(frame: Frame): void {
    while (this.frames.length > 0 && this.frames[this.frames.length - 1].time > frame.time + 1e-9) this.frames.pop();
    const last = this.frames[this.frames.length - 1];
    if (last && Math.abs(last.time - frame.time) < 1e-12) this.frames.pop();
    this.frames.push(frame);
    if (this.frames.length > this.capacity) this.frames.splice(0, this.frames.length - this.capacity);
  }
}

export function decode(bytes: ArrayBuffer): Recording | Live {
  const { header, base } = readHeader(bytes);
  return header.live ? new Live(header) : new Recording(bytes, header, base);
}

// One event of a running simulation; see src/view/frame.c.
export function decodeLive(bytes: Uint8Array<ArrayBuffer>, model: Model): { frame: Frame; model: number; realTime: number; paused: boolean; stopped: boolean; timeStep: number } {
  const view = new DataView(bytes.buffer);
  const at = (i: number) => view.getInt32(40 + 4 * i, true);
  const [contacts, iterations, flags, generation, nq, nv, sensors, paused, moved] = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(at);
  let offset = 76;
  const take = (n: number) => {
    const part = new Float32Array(bytes.buffer, offset, n);
    offset += 4 * n;
    return part;
  };
  const stages = take(STAGES.length + 1); // and the residual
  const q = take(nq);
  const v = take(nv);
  const s = take(sensors);
  const kinematic = take(7 * moved);
  const data = take(CONTACT * contacts);
  const bodies = new Int32Array(bytes.buffer, offset, 2 * contacts);
  const state = new Uint8Array(bytes.buffer, offset + 8 * contacts, contacts);
  if (nq !== model.nq && generation === 0) throw new Error('The simulation shows another model.');
  return {
    frame: {
      time: view.getFloat64(0, true),
      q,
      v,
      sensors: s,
      kinematic,
      kinetic: view.getFloat64(8, true),
      potential: view.getFloat64(16, true),
      residual: stages[STAGES.length],
      iterations,
      flags,
      stages: stages.subarray(0, STAGES.length),
      contacts: { count: contacts, bodies, data, state },
    },
    model: generation,
    realTime: view.getFloat64(24, true),
    timeStep: view.getFloat64(32, true),
    paused: paused !== 0,
    stopped: paused === 2,
  };
}
