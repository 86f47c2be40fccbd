// The stage: renderer, camera, light, ground and sky.
import * as THREE from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import type { Model } from './data';
import { compose, type Poses } from './kinematics';

interface Theme {
  sky: string;
  horizon: string;
  ground: string;
  grid: string;
  key: number;
  fill: number;
}

const THEMES: Record<'light' | 'dark', Theme> = {
  light: { sky: '#c3d3de', horizon: '#eef2f4', ground: '#e4e8ea', grid: '#6d7d88', key: 2.0, fill: 2.1 },
  dark: { sky: '#0c1116', horizon: '#1a222a', ground: '#27313a', grid: '#a9bac6', key: 2.3, fill: 1.6 },
};

const GRID_VERTEX = `
varying vec3 at;
void main() {
  vec4 world = modelMatrix * vec4(position, 1.0);
  at = position;
  gl_Position = projectionMatrix * viewMatrix * world;
}`;

const GRID_FRAGMENT = `
varying vec3 at;
uniform float cell;
uniform float reach;
uniform vec2 focus;
uniform vec3 color;
float lines(float size) {
  vec2 p = at.xy / size;
  vec2 w = fwidth(p);
  vec2 d = abs(fract(p - 0.5) - 0.5) / max(w, vec2(1e-6));
  float line = 1.0 - min(min(d.x, d.y), 1.0);
  return line * (1.0 - smoothstep(0.25, 0.6, max(w.x, w.y)));
}
void main() {
  float fade = 1.0 - smoothstep(0.15 * reach, reach, distance(at.xy, focus));
  float a = max(0.14 * lines(cell), 0.3 * lines(10.0 * cell)) * fade;
  gl_FragColor = vec4(color, a);
}`;

const SKY_FRAGMENT = `
varying vec3 direction;
uniform vec3 sky;
uniform vec3 horizon;
void main() {
  float t = smoothstep(0.0, 0.6, normalize(direction).z);
  gl_FragColor = vec4(mix(horizon, sky, t), 1.0);
  #include <colorspace_fragment>
}`;

const FIELD_OF_VIEW = 40; // vertical [degrees]

// Whether the browser draws on the processor, where a first picture with all shadows takes seconds.
export function isSoftware(): boolean {
  const g = document.createElement('canvas').getContext('webgl2');
  const info = g?.getExtension('WEBGL_debug_renderer_info');
  const name = g && info ? String(g.getParameter(info.UNMASKED_RENDERER_WEBGL)) : '';
  g?.getExtension('WEBGL_lose_context')?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}

export class Stage {
  readonly scene = new THREE.Scene();
  readonly renderer: THREE.WebGLRenderer;
  readonly camera = new THREE.PerspectiveCamera(FIELD_OF_VIEW, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  readonly element = document.createElement('div');
  private sun = new THREE.DirectionalLight('#fffaf2', 2);
  private fill = new THREE.HemisphereLight('#ffffff', '#8a8f94', 1);
  private sky: THREE.Mesh<THREE.SphereGeometry, THREE.ShaderMaterial>;
  private grounds: THREE.Mesh[] = [];
  private grid: THREE.Mesh<THREE.PlaneGeometry, THREE.ShaderMaterial>;
  private radius = 1;
  private wantsShadows = true;

  constructor(private quality = 2) {
    this.renderer = new THREE.WebGLRenderer({ antialias: quality > 0, preserveDrawingBuffer: true });
    this.renderer.setPixelRatio(quality > 0 ? Math.min(window.devicePixelRatio, quality) : 0.5);
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFSoftShadowMap;
    this.element.className = 'view';
    this.element.append(this.renderer.domElement);
    this.renderer.domElement.tabIndex = 0;
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.maxPolarAngle = 0.98 * Math.PI;
    this.sky = new THREE.Mesh(
      new THREE.SphereGeometry(1, 24, 16),
      new THREE.ShaderMaterial({
        side: THREE.BackSide,
        depthWrite: false,
        depthTest: false,
        uniforms: { sky: { value: new THREE.Color() }, horizon: { value: new THREE.Color() } },
        vertexShader: 'varying vec3 direction; void main() { direction = position; vec4 p = projectionMatrix * vec4(mat3(viewMatrix) * position, 1.0); gl_Position = p; }',
        fragmentShader: SKY_FRAGMENT,
      }),
    );
    this.sky.frustumCulled = false;
    this.sky.renderOrder = -10;
    this.grid = new THREE.Mesh(
      new THREE.PlaneGeometry(1, 1),
      new THREE.ShaderMaterial({
        transparent: true,
        depthWrite: false,
        side: THREE.DoubleSide,
        uniforms: { cell: { value: 0.1 }, reach: { value: 10 }, focus: { value: new THREE.Vector2() }, color: { value: new THREE.Color() } },
        vertexShader: GRID_VERTEX,
        fragmentShader: GRID_FRAGMENT,
        polygonOffset: true,
        polygonOffsetFactor: -2,
        polygonOffsetUnits: -2,
      }),
    );
    this.setShadows(true);
    this.sun.shadow.mapSize.setScalar(1024 * quality || 1024);
    this.sun.shadow.radius = 4;
    this.scene.add(this.sky, this.fill, this.sun, this.sun.target, this.grid);
    this.setTheme('light');
  }

  setTheme(name: 'light' | 'dark'): void {
    const theme = THEMES[name];
    this.sky.material.uniforms.sky.value.set(theme.sky);
    this.sky.material.uniforms.horizon.value.set(theme.horizon);
    this.grid.material.uniforms.color.value.set(theme.grid);
    this.scene.fog = new THREE.Fog(theme.horizon, 6 * this.radius, 40 * this.radius);
    this.sun.intensity = theme.key;
    this.fill.intensity = theme.fill;
    this.fill.color.set(name === 'light' ? '#ffffff' : '#b8cad8');
    this.fill.groundColor.set(name === 'light' ? '#c3c6c8' : '#454d55');
    for (const ground of this.grounds) (ground.material as THREE.MeshStandardMaterial).color.set(theme.ground);
  }

  // Planes of the model, as far as one can see, and light that fits its size.
  setModel(model: Model, poses: Poses, radius: number, center: THREE.Vector3, theme: 'light' | 'dark'): void {
    this.radius = radius;
    for (const ground of this.grounds) this.scene.remove(ground);
    this.grounds = [];
    const p = new Float64Array(7);
    const span = 400 * radius;
    let level = 0;
    for (const shape of model.shapes) {
      if (shape.kind !== 'plane') continue;
      compose(poses, 7 * shape.body, shape.pose, 0, p, 0);
      if (1 - 2 * (p[4] * p[4] + p[5] * p[5]) < 0.5) continue; // walls would hide what they hold
      const ground = new THREE.Mesh(new THREE.PlaneGeometry(span, span), new THREE.MeshStandardMaterial({ roughness: 0.95, metalness: 0 }));
      ground.position.set(p[0], p[1], p[2]);
      ground.quaternion.set(p[4], p[5], p[6], p[3]);
      ground.receiveShadow = true;
      this.scene.add(ground);
      this.grounds.push(ground);
      if (this.grounds.length === 1) level = p[2];
    }
    const cell = 10 ** Math.round(Math.log10(radius / 6));
    const g = this.grid;
    g.scale.set(1, 1, 1);
    g.geometry.dispose();
    g.geometry = new THREE.PlaneGeometry(span, span);
    g.position.set(0, 0, level + 1e-4 * radius);
    if (this.grounds.length > 0) g.quaternion.copy(this.grounds[0].quaternion);
    g.material.uniforms.cell.value = cell;
    g.material.uniforms.reach.value = 9 * radius;
    this.camera.near = 0.005 * radius;
    this.camera.far = 500 * radius;
    this.camera.updateProjectionMatrix();
    this.controls.minDistance = 0.05 * radius;
    this.controls.maxDistance = 60 * radius;
    this.aim(center);
    this.setTheme(theme);
  }

  // Keep the light and its shadow where the action is.
  aim(center: THREE.Vector3): void {
    const r = this.radius;
    const s = this.sun.shadow.camera;
    this.sun.target.position.copy(center);
    this.sun.position.set(center.x - 1.5 * r, center.y - 2.9 * r, center.z + 3.9 * r);
    const half = 2.4 * r;
    s.left = s.bottom = -half;
    s.right = s.top = half;
    s.near = 0.2 * r;
    s.far = 12 * r;
    s.updateProjectionMatrix();
    this.sun.shadow.normalBias = 0.004 * r;
    this.sun.shadow.bias = -0.0004;
    this.grid.material.uniforms.focus.value.set(center.x, center.y);
  }

  setShadows(on: boolean): void {
    this.wantsShadows = on;
    this.sun.castShadow = on && this.quality > 0;
  }

  // Slow graphics get smaller shadows, then fewer pixels and none.
  lowerQuality(): boolean {
    if (this.quality === 0) return false;
    this.quality -= 1;
    this.renderer.setPixelRatio(this.quality > 0 ? Math.min(window.devicePixelRatio, 1) : 0.6);
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.map?.dispose();
    this.sun.shadow.map = null;
    this.setShadows(this.wantsShadows);
    return true;
  }

  // Of a camera of the model [degrees]; 0: as usual.
  setFov(degrees: number): void {
    const fov = degrees > 0 ? degrees : FIELD_OF_VIEW;
    if (this.camera.fov === fov) return;
    this.camera.fov = fov;
    this.camera.updateProjectionMatrix();
  }

  setGrid(on: boolean): void {
    this.grid.visible = on;
  }

  // Look from a direction at everything.
  look(direction: [number, number, number], center: THREE.Vector3, distance: number): void {
    const d = new THREE.Vector3(...direction).normalize();
    this.controls.target.copy(center);
    this.camera.position.copy(center).addScaledVector(d, distance);
    this.controls.update();
  }

  resize(width: number, height: number): void {
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / Math.max(height, 1);
    this.camera.updateProjectionMatrix();
  }

  // Where a ray meets the ground, or the plane z = level without one.
  onGround(ray: THREE.Raycaster): THREE.Vector3 | null {
    const hit = this.grounds.length > 0 ? ray.intersectObjects(this.grounds, false)[0]?.point : undefined;
    if (hit) return hit;
    const plane = new THREE.Plane(new THREE.Vector3(0, 0, 1), -this.grid.position.z);
    return ray.ray.intersectPlane(plane, new THREE.Vector3());
  }

  render(): void {
    this.renderer.render(this.scene, this.camera);
  }
}
