// What is drawn over the bodies: contact points, forces, cones, the force network, centers of mass,
// the support polygon, frames, joint axes, boxes of inertia, the ways of bodies.
import * as THREE from 'three';
import { CONTACT, OPEN, SLIP, STICK, type Contacts, type Frame, type Joint, type Model } from './data';
import { across, convexHull, inertiaBox } from './geometry';
import { rotate, toWorld, type Poses } from './kinematics';
import type { Trails } from './trails';

export interface Show {
  points: boolean;
  forces: boolean;
  cones: boolean;
  network: boolean;
  com: boolean;
  support: boolean;
  frames: boolean;
  axes: boolean;
  inertia: boolean;
  collision: boolean;
  trails: boolean;
  labels: boolean;
  grid: boolean;
  shadows: boolean;
}

export const DEFAULT_SHOW: Show = {
  points: false, forces: true, cones: false, network: false, com: false, support: false,
  frames: false, axes: false, inertia: false, collision: false, trails: false, labels: false, grid: true, shadows: true,
};

export interface Colors {
  stick: THREE.Color;
  slip: THREE.Color;
  open: THREE.Color;
  accent: THREE.Color;
}

// Instances that are written anew each frame; capacity grows, the draw call stays one. With `through`
// (an opacity) what bodies hide is drawn as well, fainter.
class Pool {
  mesh: THREE.InstancedMesh;
  count = 0;
  private hidden: THREE.InstancedMesh | null = null;
  private faint: THREE.Material | null = null;

  constructor(private root: THREE.Group, private geometry: THREE.BufferGeometry, private material: THREE.Material, capacity = 64, through = 0) {
    material.transparent ||= through > 0; // sorted among those: what is hidden first
    if (through > 0) this.faint = new THREE.MeshBasicMaterial({ transparent: true, opacity: through, depthFunc: THREE.GreaterDepth, depthWrite: false });
    this.mesh = this.make(capacity);
  }

  private make(capacity: number): THREE.InstancedMesh {
    const mesh = new THREE.InstancedMesh(this.geometry, this.material, capacity);
    mesh.instanceColor = new THREE.InstancedBufferAttribute(new Float32Array(3 * capacity), 3);
    mesh.frustumCulled = false;
    mesh.raycast = () => {};
    mesh.renderOrder = 2;
    this.root.add(mesh);
    if (this.faint) {
      if (this.hidden) this.root.remove(this.hidden);
      this.hidden = new THREE.InstancedMesh(this.geometry, this.faint, capacity);
      this.hidden.instanceMatrix = mesh.instanceMatrix;
      this.hidden.instanceColor = mesh.instanceColor;
      this.hidden.frustumCulled = false;
      this.hidden.raycast = () => {};
      this.hidden.renderOrder = 1; // before the visible part, which would else hide itself
      this.root.add(this.hidden);
    }
    return mesh;
  }

  begin(): void {
    this.count = 0;
  }

  // Columns of the matrix: u, v, w times their lengths, then the place.
  add(u: ArrayLike<number>, v: ArrayLike<number>, w: ArrayLike<number>, a: number, b: number, c: number, x: number, y: number, z: number, color: THREE.Color): void {
    if (this.count === this.mesh.instanceMatrix.count) this.grow();
    const m = this.mesh.instanceMatrix.array as Float32Array;
    const o = 16 * this.count;
    for (let k = 0; k < 3; ++k) {
      m[o + k] = a * u[k];
      m[o + 4 + k] = b * v[k];
      m[o + 8 + k] = c * w[k];
    }
    m[o + 3] = m[o + 7] = m[o + 11] = 0;
    m[o + 12] = x;
    m[o + 13] = y;
    m[o + 14] = z;
    m[o + 15] = 1;
    const rgb = this.mesh.instanceColor!.array as Float32Array;
    rgb[3 * this.count] = color.r;
    rgb[3 * this.count + 1] = color.g;
    rgb[3 * this.count + 2] = color.b;
    this.count += 1;
  }

  private grow(): void {
    const old = this.mesh;
    this.mesh = this.make(2 * old.instanceMatrix.count);
    (this.mesh.instanceMatrix.array as Float32Array).set(old.instanceMatrix.array);
    (this.mesh.instanceColor!.array as Float32Array).set(old.instanceColor!.array);
    this.root.remove(old);
    old.dispose();
  }

  end(): void {
    this.mesh.count = this.count;
    this.mesh.visible = this.count > 0;
    if (this.hidden) {
      this.hidden.count = this.count;
      this.hidden.visible = this.count > 0;
    }
    const { instanceMatrix, instanceColor } = this.mesh;
    instanceMatrix.clearUpdateRanges();
    instanceMatrix.addUpdateRange(0, 16 * this.count);
    instanceMatrix.needsUpdate = true;
    instanceColor!.clearUpdateRanges();
    instanceColor!.addUpdateRange(0, 3 * this.count);
    instanceColor!.needsUpdate = true;
  }
}

const X = [1, 0, 0];
const Y = [0, 1, 0];
const Z = [0, 0, 1];
const RED = new THREE.Color('#c8504b');
const GREEN = new THREE.Color('#4f9d62');
const BLUE = new THREE.Color('#4a7fc1');

// Principal axes of a symmetric matrix by Jacobi's rotations: columns and values.
export function principal(s: number[]): { axes: number[][]; values: number[] } {
  const a = [[s[0], s[3], s[4]], [s[3], s[1], s[5]], [s[4], s[5], s[2]]];
  const v = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  for (let sweep = 0; sweep < 12; ++sweep) {
    for (const [p, q] of [[0, 1], [0, 2], [1, 2]]) {
      if (Math.abs(a[p][q]) < 1e-300) continue;
      const theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
      const t = Math.sign(theta || 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
      const c = 1 / Math.sqrt(t * t + 1);
      const sn = t * c;
      for (let k = 0; k < 3; ++k) {
        const [x, y] = [a[k][p], a[k][q]];
        a[k][p] = c * x - sn * y;
        a[k][q] = sn * x + c * y;
      }
      for (let k = 0; k < 3; ++k) {
        const [x, y] = [a[p][k], a[q][k]];
        a[p][k] = c * x - sn * y;
        a[q][k] = sn * x + c * y;
        const [vx, vy] = [v[k][p], v[k][q]];
        v[k][p] = c * vx - sn * vy;
        v[k][q] = sn * vx + c * vy;
      }
    }
  }
  return { axes: [0, 1, 2].map((j) => [v[0][j], v[1][j], v[2][j]]), values: [a[0][0], a[1][1], a[2][2]] };
}

export class Overlays {
  readonly root = new THREE.Group();
  forceScale = 1; // metres per newton, times the user's factor
  factor = 1;
  size = 1; // radius of the scene
  private points: Pool;
  private shafts: Pool;
  private heads: Pool;
  private cones: Pool;
  private network: Pool;
  private ways: Pool;
  private balls: Pool;
  private sticks: Pool;
  private boxes: Pool;
  private polygon: THREE.Mesh;
  private spring: THREE.Line;
  private principal: { axes: number[][]; box: [number, number, number] }[];

  constructor(private model: Model, private colors: Colors) {
    const lit = () => new THREE.MeshStandardMaterial({ roughness: 0.6 });
    const over = (opacity: number) => new THREE.MeshBasicMaterial({ transparent: true, opacity, depthWrite: false, side: THREE.DoubleSide });
    const front = () => new THREE.MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.95 });
    const cylinder = new THREE.CylinderGeometry(1, 1, 1, 10).rotateX(Math.PI / 2).translate(0, 0, 0.5);
    this.points = new Pool(this.root, new THREE.SphereGeometry(1, 12, 8), lit(), 256);
    this.shafts = new Pool(this.root, cylinder, lit(), 256, 0.3);
    this.heads = new Pool(this.root, new THREE.ConeGeometry(1, 1, 14).rotateX(Math.PI / 2).translate(0, 0, 0.5), lit(), 256, 0.3);
    this.cones = new Pool(this.root, new THREE.ConeGeometry(1, 1, 24, 1, true).rotateX(-Math.PI / 2).translate(0, 0, 0.5), over(0.28), 64);
    this.network = new Pool(this.root, cylinder, new THREE.MeshStandardMaterial({ roughness: 0.5 }), 256, 0.75);
    this.ways = new Pool(this.root, new THREE.CylinderGeometry(1, 1, 1, 5).rotateX(Math.PI / 2).translate(0, 0, 0.5), new THREE.MeshBasicMaterial(), 256, 0.3);
    this.balls = new Pool(this.root, new THREE.SphereGeometry(1, 16, 12), front(), 64);
    this.sticks = new Pool(this.root, cylinder, front(), 64);
    this.boxes = new Pool(this.root, new THREE.BoxGeometry(1, 1, 1), over(0.35), 16);
    this.polygon = new THREE.Mesh(new THREE.BufferGeometry(), over(0.3));
    this.polygon.renderOrder = 1;
    this.spring = new THREE.Line(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ depthTest: false, linewidth: 2 }));
    this.spring.renderOrder = 4;
    this.spring.visible = false;
    for (const pool of [this.balls, this.sticks]) pool.mesh.renderOrder = 3;
    this.root.add(this.polygon, this.spring);
    this.principal = model.bodies.map((b) => {
      const { axes, values } = principal(b.inertia);
      return { axes, box: b.mass > 0 ? inertiaBox(b.mass, values[0], values[1], values[2]) : [0, 0, 0] };
    });
  }

  setColors(colors: Colors): void {
    this.colors = colors;
  }

  private colorOf(state: number): THREE.Color {
    return state === STICK ? this.colors.stick : state === SLIP ? this.colors.slip : this.colors.open;
  }

  private drawContacts(show: Show, c: Contacts): void {
    const size = this.size;
    const scale = this.forceScale * this.factor;
    const limit = 1.6 * size;
    for (let i = 0; i < c.count; ++i) {
      const d = c.data;
      const o = CONTACT * i;
      const state = c.state[i];
      const color = this.colorOf(state);
      const [x, y, z] = [d[o], d[o + 1], d[o + 2]];
      const n = d.subarray(o + 3, o + 6);
      if (show.points) {
        const r = (state === OPEN ? 0.005 : 0.008) * size;
        this.points.add(X, Y, Z, r, r, r, x, y, z, color);
      }
      if (state === OPEN) continue;
      const force = Math.hypot(d[o + 6], d[o + 7], d[o + 8]);
      const length = Math.min(force * scale, limit);
      if (show.forces && length > 0.004 * size) {
        const w = [d[o + 6] / force, d[o + 7] / force, d[o + 8] / force];
        const [u, v] = across(w);
        const thick = 0.0042 * size;
        const head = Math.min(0.045 * size, 0.45 * length);
        const shaft = length - head;
        this.shafts.add(u, v, w, thick, thick, shaft, x, y, z, color);
        this.heads.add(u, v, w, 0.3 * head, 0.3 * head, head, x + shaft * w[0], y + shaft * w[1], z + shaft * w[2], color);
      }
      if (show.cones && d[o + 10] > 0) {
        const [u, v] = across(n);
        const height = 0.09 * size;
        const r = Math.min(d[o + 10], 3) * height;
        this.cones.add(u, v, n, r, r, height, x, y, z, color);
      }
    }
  }

  // Force between two bodies as a line whose thickness is the force. Contacts with the world reach
  // to the point of contact.
  private drawNetwork(poses: Poses, c: Contacts): void {
    const pairs = new Map<number, number[]>();
    const n = this.model.bodies.length + 1;
    for (let i = 0; i < c.count; ++i) {
      const [a, b] = [c.bodies[2 * i], c.bodies[2 * i + 1]];
      const o = CONTACT * i;
      const f = Math.hypot(c.data[o + 6], c.data[o + 7], c.data[o + 8]);
      if (!(f > 0)) continue;
      const key = a * n + b;
      const sum = pairs.get(key) ?? [0, 0, 0, 0];
      sum[0] += f;
      for (let k = 0; k < 3; ++k) sum[k + 1] += f * c.data[o + k];
      pairs.set(key, sum);
    }
    let largest = 0;
    for (const sum of pairs.values()) largest = Math.max(largest, sum[0]);
    for (const [key, [f, px, py, pz]] of pairs) {
      const [a, b] = [Math.floor(key / n), key % n];
      const contact = [px / f, py / f, pz / f];
      const end = (body: number) => (body > 0 && this.model.bodies[body - 1].moves ? toWorld(poses, body, this.model.bodies[body - 1].com) : contact);
      const p = end(a);
      const q = end(b);
      const w = [q[0] - p[0], q[1] - p[1], q[2] - p[2]];
      const length = Math.hypot(w[0], w[1], w[2]);
      if (!(length > 1e-9)) continue;
      for (let k = 0; k < 3; ++k) w[k] /= length;
      const [u, v] = across(w);
      const share = f / largest;
      const r = this.size * (0.0012 + 0.022 * this.factor * share);
      const color = new THREE.Color().lerpColors(this.colors.open, this.colors.slip, Math.sqrt(share));
      this.network.add(u, v, w, r, r, length, p[0], p[1], p[2], color);
    }
  }

  private drawCenters(poses: Poses): void {
    const sum = [0, 0, 0];
    let mass = 0;
    this.model.bodies.forEach((body, i) => {
      if (!(body.mass > 0) || !body.moves) return;
      const p = toWorld(poses, i + 1, body.com);
      for (let k = 0; k < 3; ++k) sum[k] += body.mass * p[k];
      mass += body.mass;
      const r = 0.007 * this.size;
      this.balls.add(X, Y, Z, r, r, r, p[0], p[1], p[2], this.colors.open);
    });
    if (mass > 0) {
      const r = 0.018 * this.size;
      this.balls.add(X, Y, Z, r, r, r, sum[0] / mass, sum[1] / mass, sum[2] / mass, this.colors.accent);
    }
  }

  private drawFrames(poses: Poses, selected: number): void {
    const length = 0.09 * this.size;
    const thick = 0.0025 * this.size;
    const add = (body: number, scale: number) => {
      const o = 7 * body;
      const axis = (v: number[]) => rotate(poses[o + 3], poses[o + 4], poses[o + 5], poses[o + 6], v);
      [[X, RED], [Y, GREEN], [Z, BLUE]].forEach(([v, color]) => {
        const w = axis(v as number[]);
        const [u, t] = across(w);
        this.sticks.add(u, t, w, thick, thick, scale * length, poses[o], poses[o + 1], poses[o + 2], color as THREE.Color);
      });
    };
    if (selected > 0) add(selected, 1.4);
    else for (let i = 1; i <= this.model.bodies.length; ++i) add(i, 1);
  }

  private drawAxes(poses: Poses, joints: Joint[]): void {
    for (const joint of joints) {
      if (joint.kind !== 'revolute' && joint.kind !== 'prismatic') continue;
      const o = 7 * joint.body;
      const w = rotate(poses[o + 3], poses[o + 4], poses[o + 5], poses[o + 6], joint.axis);
      const p = toWorld(poses, joint.body, joint.anchor);
      const [u, v] = across(w);
      const length = 0.16 * this.size;
      const r = 0.0035 * this.size;
      this.sticks.add(u, v, w, r, r, length, p[0] - 0.5 * length * w[0], p[1] - 0.5 * length * w[1], p[2] - 0.5 * length * w[2], joint.kind === 'revolute' ? this.colors.accent : this.colors.slip);
    }
  }

  private drawInertia(poses: Poses): void {
    this.model.bodies.forEach((body, i) => {
      if (!(body.mass > 0) || !body.moves) return;
      const { axes, box } = this.principal[i];
      const o = 7 * (i + 1);
      const turn = (v: number[]) => rotate(poses[o + 3], poses[o + 4], poses[o + 5], poses[o + 6], v);
      const p = toWorld(poses, i + 1, body.com);
      this.boxes.add(turn(axes[0]), turn(axes[1]), turn(axes[2]), box[0], box[1], box[2], p[0], p[1], p[2], this.colors.accent);
    });
  }

  // Hull of the points that carry load against the world.
  private drawSupport(c: Contacts): void {
    const points: [number, number][] = [];
    let height = -Infinity;
    for (let i = 0; i < c.count; ++i) {
      const fixed = (body: number) => body === 0 || !this.model.bodies[body - 1].moves;
      const o = CONTACT * i;
      if (!(fixed(c.bodies[2 * i]) || fixed(c.bodies[2 * i + 1])) || c.state[i] === OPEN || Math.abs(c.data[o + 5]) < 0.5) continue;
      points.push([c.data[o], c.data[o + 1]]);
      height = Math.max(height, c.data[o + 2]);
    }
    const hull = convexHull(points);
    this.polygon.visible = hull.length >= 3;
    if (hull.length < 3) return;
    const position = new Float32Array(9 * (hull.length - 2));
    for (let i = 0; i + 2 < hull.length; ++i) {
      [hull[0], hull[i + 1], hull[i + 2]].forEach((p, k) => position.set([p[0], p[1], height + 0.002 * this.size], 9 * i + 3 * k));
    }
    this.polygon.geometry.dispose();
    this.polygon.geometry = new THREE.BufferGeometry().setAttribute('position', new THREE.BufferAttribute(position, 3));
    (this.polygon.material as THREE.MeshBasicMaterial).color = this.colors.accent;
  }

  private drawTrails(trails: Trails, from: number, to: number): void {
    const [first, end] = trails.between(from, to);
    const thick = 0.0035 * this.size;
    const color = new THREE.Color();
    for (const way of trails.points) {
      for (let i = first; i + 1 < end; ++i) {
        const w = [0, 1, 2].map((k) => way[3 * i + 3 + k] - way[3 * i + k]);
        const length = Math.hypot(w[0], w[1], w[2]);
        if (!(length > 1e-4 * this.size)) continue;
        for (let k = 0; k < 3; ++k) w[k] /= length;
        const [u, v] = across(w);
        color.lerpColors(this.colors.open, this.colors.accent, (i + 1 - first) / Math.max(end - first - 1, 1));
        this.ways.add(u, v, w, thick, thick, length, way[3 * i], way[3 * i + 1], way[3 * i + 2], color);
      }
    }
  }

  draw(show: Show, frame: Frame, poses: Poses, selected: number, trails: Trails | null, from: number, to: number): void {
    const pools = [this.points, this.shafts, this.heads, this.cones, this.network, this.ways, this.balls, this.sticks, this.boxes];
    for (const pool of pools) pool.begin();
    const wanted = show.points || show.forces || show.cones;
    if (wanted) this.drawContacts(show, frame.contacts);
    if (show.network) this.drawNetwork(poses, frame.contacts);
    if (show.com) this.drawCenters(poses);
    if (show.trails && trails) this.drawTrails(trails, from, to);
    if (show.frames) this.drawFrames(poses, selected);
    if (show.axes) this.drawAxes(poses, selected > 0 ? this.model.joints.filter((j) => j.body === selected) : this.model.joints);
    if (show.inertia) this.drawInertia(poses);
    this.polygon.visible = false;
    if (show.support) this.drawSupport(frame.contacts);
    for (const pool of pools) pool.end();
  }

  // From the point that is held to where it is pulled; null: nothing is.
  drawSpring(from: ArrayLike<number> | null, to?: ArrayLike<number>): void {
    this.spring.visible = from !== null;
    if (from === null || !to) return;
    const position = new Float32Array([from[0], from[1], from[2], to[0], to[1], to[2]]);
    this.spring.geometry.dispose();
    this.spring.geometry = new THREE.BufferGeometry().setAttribute('position', new THREE.BufferAttribute(position, 3));
    (this.spring.material as THREE.LineBasicMaterial).color = this.colors.slip;
  }

  arrows(): number {
    return this.shafts.count;
  }

  segments(): number {
    return this.ways.count;
  }

  lines(): number {
    return this.network.count;
  }
}
