// Shapes of a model as instanced meshes: one draw call per geometry, however many bodies.
import * as THREE from 'three';
import { ConvexGeometry } from 'three/examples/jsm/geometries/ConvexGeometry.js';
import { floats, integers, type Model, type Shape } from './data';
import { compose, type Poses } from './kinematics';

// Muted tones for bodies that have no color of their own: one per mechanism, a little lighter and
// darker from body to body.
const PALETTE = ['#7d97a8', '#b5a284', '#8aa398', '#a9898c', '#8f93ad', '#a7ac8d'];
const LIGHTER = [0, 0.05, -0.04, 0.025, -0.02];
const FIXED = '#9aa5ad';

interface Slot {
  shape: number; // from 0
  body: number;
  local: Float64Array; // pose in the body frame
  scale: [number, number, number];
  color: THREE.Color;
  alpha: number;
}

interface Group {
  mesh: THREE.InstancedMesh;
  slots: Slot[];
}

function hasOwnColor(shape: Shape): boolean {
  const [r, g, b] = shape.color;
  const grey = Math.abs(r - g) < 1e-3 && Math.abs(g - b) < 1e-3;
  return !(grey && (Math.abs(r - 0.6) < 1e-3 || Math.abs(r - 0.5) < 1e-3));
}

// The body at the root of each body's mechanism.
export function rootsOf(model: Model): number[] {
  const roots: number[] = [];
  model.bodies.forEach((body, i) => {
    const parent = body.parent > 0 ? model.bodies[body.parent - 1] : undefined;
    roots.push(parent?.moves ? roots[body.parent - 1] : i + 1);
  });
  return roots;
}

// A geometry of unit size and how it is stretched, or one of its own where stretching is not enough.
function describe(model: Model, shape: Shape): { key: string; make: () => THREE.BufferGeometry; scale: [number, number, number] } | null {
  const [x, y, z] = shape.size;
  const r = shape.rounding ?? 0;
  switch (shape.kind) {
    case 'box':
      return { key: 'box', make: () => new THREE.BoxGeometry(2, 2, 2), scale: [x + r, y + r, z + r] };
    case 'sphere':
      return { key: 'ball', make: () => new THREE.SphereGeometry(1, 32, 20), scale: [x, x, x] };
    case 'ellipsoid':
      return { key: 'ball', make: () => new THREE.SphereGeometry(1, 32, 20), scale: [x, y, z] };
    case 'cylinder':
      return { key: 'cylinder', make: () => new THREE.CylinderGeometry(1, 1, 2, 40).rotateX(Math.PI / 2), scale: [x + r, x + r, y + r] };
    case 'capsule': {
      const ratio = Number((y / x).toPrecision(6));
      return { key: `capsule ${ratio}`, make: () => new THREE.CapsuleGeometry(1, 2 * ratio, 8, 24).rotateX(Math.PI / 2), scale: [x, x, x] };
    }
    case 'hull':
    case 'mesh':
      return shape.mesh === undefined ? null : { key: `mesh ${shape.mesh}`, make: () => meshGeometry(model, shape.mesh!), scale: [1, 1, 1] };
    case 'field':
      return shape.field ? { key: `field ${shape.name}`, make: () => fieldGeometry(shape), scale: [1, 1, 1] } : null;
    default:
      return null;
  }
}

function meshGeometry(model: Model, index: number): THREE.BufferGeometry {
  const mesh = model.meshes[index];
  const v = floats(mesh.v);
  if (mesh.triangles === 0) {
    const points: THREE.Vector3[] = [];
    for (let i = 0; i < mesh.vertices; ++i) points.push(new THREE.Vector3(v[3 * i], v[3 * i + 1], v[3 * i + 2]));
    return points.length >= 4 ? new ConvexGeometry(points) : new THREE.BufferGeometry();
  }
  // Own corners for every triangle: edges stay sharp, and files without normals look right.
  const f = integers(mesh.f);
  const soup = new Float32Array(3 * f.length);
  for (let i = 0; i < f.length; ++i) {
    for (let k = 0; k < 3; ++k) soup[3 * i + k] = v[3 * f[i] + k];
  }
  const g = new THREE.BufferGeometry();
  g.setAttribute('position', new THREE.BufferAttribute(soup, 3));
  g.computeVertexNormals();
  return g;
}

function fieldGeometry(shape: Shape): THREE.BufferGeometry {
  const field = shape.field!;
  const h = floats(field.h);
  const { columns, rows } = field;
  const position = new Float32Array(3 * columns * rows);
  const index: number[] = [];
  for (let r = 0; r < rows; ++r) {
    for (let c = 0; c < columns; ++c) {
      const i = r * columns + c;
      position[3 * i] = field.sizeX * ((2 * c) / (columns - 1) - 1);
      position[3 * i + 1] = field.sizeY * ((2 * r) / (rows - 1) - 1);
      position[3 * i + 2] = h[i];
      if (r + 1 < rows && c + 1 < columns) index.push(i, i + 1, i + columns, i + 1, i + columns + 1, i + columns);
    }
  }
  const g = new THREE.BufferGeometry();
  g.setAttribute('position', new THREE.BufferAttribute(position, 3));
  g.setIndex(index);
  g.computeVertexNormals();
  return g;
}

export class Shapes {
  readonly root = new THREE.Group();
  private groups: Group[] = [];
  private pose = new Float64Array(7);
  private selected = -1;
  private accent = new THREE.Color('#d98a3d');
  private opacity = 1;

  // tint: one color for all, as of a ghost.
  constructor(private readonly model: Model, private readonly tint: THREE.Color | null = null) {}

  // Shapes that collide, or those that are not hidden; of bodies that have only hidden ones, all.
  build(collision: boolean): void {
    this.dispose();
    const shown = new Set(this.model.shapes.filter((s) => !s.hidden && s.color[3] > 0).map((s) => s.body));
    const made = new Map<string, Slot[]>();
    const makers = new Map<string, () => THREE.BufferGeometry>();
    const roots = rootsOf(this.model);
    const order = new Map([...new Set(roots)].map((root, k) => [root, k]));
    this.model.shapes.forEach((shape, i) => {
      const d = shape.kind === 'plane' ? null : describe(this.model, shape);
      const wanted = collision ? !shape.visual : !shape.hidden || !shown.has(shape.body);
      if (!d || !wanted || shape.color[3] === 0) return;
      const body = this.model.bodies[shape.body - 1];
      const color = new THREE.Color();
      if (this.tint) color.copy(this.tint);
      else if (hasOwnColor(shape)) color.setRGB(shape.color[0], shape.color[1], shape.color[2], THREE.SRGBColorSpace);
      else if (!body || !body.moves) color.set(FIXED);
      else color.set(PALETTE[order.get(roots[shape.body - 1])! % PALETTE.length]).offsetHSL(0, 0, LIGHTER[(shape.body - roots[shape.body - 1]) % LIGHTER.length]);
      const key = `${d.key}|${shape.color[3] < 1 ? i : ''}`;
      makers.set(key, d.make);
      if (!made.has(key)) made.set(key, []);
      made.get(key)!.push({ shape: i, body: shape.body, local: Float64Array.from(shape.pose), scale: d.scale, color, alpha: shape.color[3] });
    });
    for (const [key, slots] of made) {
      const geometry = makers.get(key)!();
      const alpha = slots[0].alpha;
      const material = new THREE.MeshStandardMaterial({
        roughness: 0.72,
        metalness: 0.03,
        transparent: alpha < 1,
        opacity: alpha,
        side: key.startsWith('mesh') || key.startsWith('field') ? THREE.DoubleSide : THREE.FrontSide,
      });
      const mesh = new THREE.InstancedMesh(geometry, material, slots.length);
      mesh.castShadow = mesh.receiveShadow = true;
      mesh.frustumCulled = false;
      slots.forEach((slot, k) => mesh.setColorAt(k, slot.color));
      this.groups.push({ mesh, slots });
      this.root.add(mesh);
    }
    this.setOpacity(this.opacity);
    this.select(this.selected);
  }

  setOpacity(opacity: number): void {
    this.opacity = opacity;
    for (const { mesh, slots } of this.groups) {
      const material = mesh.material as THREE.MeshStandardMaterial;
      material.opacity = slots[0].alpha * opacity;
      material.transparent = material.opacity < 1;
      material.depthWrite = material.opacity >= 1;
      mesh.castShadow = opacity > 0.5;
      material.needsUpdate = true;
    }
  }

  select(body: number, accent?: THREE.Color): void {
    this.selected = body;
    if (accent) this.accent = accent;
    for (const { mesh, slots } of this.groups) {
      slots.forEach((slot, k) => {
        const color = slot.body === body && body > 0 ? slot.color.clone().lerp(this.accent, 0.65) : slot.color;
        mesh.setColorAt(k, color);
      });
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }

  place(poses: Poses): void {
    const p = this.pose;
    for (const { mesh, slots } of this.groups) {
      const m = mesh.instanceMatrix.array as Float32Array;
      for (let i = 0; i < slots.length; ++i) {
        const { body, local, scale } = slots[i];
        compose(poses, 7 * body, local, 0, p, 0);
        writeMatrix(m, 16 * i, p, scale);
      }
      mesh.instanceMatrix.needsUpdate = true;
      mesh.boundingSphere = null; // rays must find it where it is now
    }
  }

  // The body under a ray: its number, and the point.
  hit(ray: THREE.Raycaster): { body: number; shape: number; point: THREE.Vector3; distance: number } | null {
    const found = ray.intersectObjects(this.groups.map((g) => g.mesh), false)[0];
    if (!found || found.instanceId === undefined) return null;
    const group = this.groups.find((g) => g.mesh === found.object)!;
    const { body, shape } = group.slots[found.instanceId];
    return { body, shape, point: found.point, distance: found.distance };
  }

  count(): number {
    return this.groups.reduce((sum, g) => sum + g.slots.length, 0);
  }

  dispose(): void {
    for (const { mesh } of this.groups) {
      this.root.remove(mesh);
      mesh.geometry.dispose();
      (mesh.material as THREE.Material).dispose();
      mesh.dispose();
    }
    this.groups = [];
  }
}

export function writeMatrix(m: Float32Array, o: number, p: ArrayLike<number>, s: ArrayLike<number>): void {
  const [w, x, y, z] = [p[3], p[4], p[5], p[6]];
  m[o] = s[0] * (1 - 2 * (y * y + z * z));
  m[o + 1] = s[0] * 2 * (x * y + w * z);
  m[o + 2] = s[0] * 2 * (x * z - w * y);
  m[o + 4] = s[1] * 2 * (x * y - w * z);
  m[o + 5] = s[1] * (1 - 2 * (x * x + z * z));
  m[o + 6] = s[1] * 2 * (y * z + w * x);
  m[o + 8] = s[2] * 2 * (x * z + w * y);
  m[o + 9] = s[2] * 2 * (y * z - w * x);
  m[o + 10] = s[2] * (1 - 2 * (x * x + y * y));
  m[o + 12] = p[0];
  m[o + 13] = p[1];
  m[o + 14] = p[2];
  m[o + 15] = 1;
}

// Corners of the box around a shape in its own frame: the lowest, then the highest.
function corners(model: Model, shape: Shape): [number[], number[]] | null {
  const [x, y, z] = shape.size;
  const r = shape.rounding ?? 0;
  const half = (a: number, b: number, c: number): [number[], number[]] => [[-a, -b, -c], [a, b, c]];
  switch (shape.kind) {
    case 'plane':
    case 'none':
      return null;
    case 'sphere':
      return half(x, x, x);
    case 'capsule':
      return half(x, x, x + y);
    case 'cylinder':
      return half(x + r, x + r, y + r);
    case 'field':
      return shape.field ? half(shape.field.sizeX, shape.field.sizeY, shape.field.depth) : null;
    case 'hull':
    case 'mesh': {
      if (shape.mesh === undefined) return null;
      const v = floats(model.meshes[shape.mesh].v);
      const low = [Infinity, Infinity, Infinity];
      const high = [-Infinity, -Infinity, -Infinity];
      for (let i = 0; i < v.length; ++i) {
        low[i % 3] = Math.min(low[i % 3], v[i]);
        high[i % 3] = Math.max(high[i % 3], v[i]);
      }
      return v.length > 0 ? [low, high] : null;
    }
    default:
      return half(x + r, y + r, z + r);
  }
}

// Box of everything that is not a plane, and half its diagonal.
export function bounds(model: Model, poses: Poses): { center: THREE.Vector3; radius: number } {
  const box = new THREE.Box3();
  const p = new Float64Array(7);
  const boxes = new Map<number, [number[], number[]] | null>();
  const m = new Float32Array(16);
  const v = new THREE.Vector3();
  for (const shape of model.shapes) {
    const key = shape.mesh ?? -1;
    const found = key >= 0 && boxes.has(key) ? boxes.get(key)! : corners(model, shape);
    if (key >= 0) boxes.set(key, found);
    if (!found) continue;
    const reach = Math.hypot(...found[1].map((x, k) => Math.max(Math.abs(x), Math.abs(found[0][k]))));
    const moves = shape.body > 0 && model.bodies[shape.body - 1].moves;
    if (!moves && reach > 20) continue; // floors
    compose(poses, 7 * shape.body, shape.pose, 0, p, 0);
    writeMatrix(m, 0, p, [1, 1, 1]);
    for (let k = 0; k < 8; ++k) {
      const [x, y, z] = [0, 1, 2].map((i) => found[(k >> i) & 1][i]);
      box.expandByPoint(v.set(m[0] * x + m[4] * y + m[8] * z + m[12], m[1] * x + m[5] * y + m[9] * z + m[13], m[2] * x + m[6] * y + m[10] * z + m[14]));
    }
  }
  if (box.isEmpty()) return { center: new THREE.Vector3(0, 0, 0.5), radius: 1 };
  const size = box.getSize(new THREE.Vector3());
  return { center: box.getCenter(new THREE.Vector3()), radius: Math.max(0.05, 0.5 * size.length()) };
}
