// The page: stage, panels, keys and the loop that ties them together.
import * as THREE from 'three';
import { Chart, findPlot, forceOn, plotIds, Span } from './chart';
import { Clock, formatTime } from './clock';
import { CONTACT, decode, fromBase64, gunzip, OPEN, SLIP, STICK, UNSOLVED, type Frame, type Live, type Recording } from './data';
import { download, el, facts, iconButton, section, setIcon, toast } from './dom';
import { mass, quantile, withUnit } from './geometry';
import { Ghost } from './ghost';
import { blend, compose, Kinematics, makePoses, rollPitchYaw, toBody, toWorld, velocity, type Poses } from './kinematics';
import { Labels, type Label } from './labels';
import { readLink, writeLink } from './link';
import { Connection, type Command } from './live';
import { findMarks, type Mark } from './marks';
import { DEFAULT_SHOW, Overlays, type Show } from './overlays';
import { bounds, Shapes } from './shapes';
import { isSoftware, Stage } from './stage';
import { Trails } from './trails';

const SPEEDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 4];
const SOLVERS = ['auto', 'newton', 'interior', 'admm', 'admm-fast', 'pgs'];
const SHOWN: [keyof Show, string, string][] = [
  ['forces', 'Contact forces', 'V'], ['points', 'Contact points', 'C'], ['cones', 'Friction cones', 'K'], ['network', 'Force network', 'N'],
  ['com', 'Centers of mass', 'M'], ['support', 'Support polygon', 'P'], ['frames', 'Frames', 'A'], ['axes', 'Joint axes', 'J'],
  ['inertia', 'Inertia boxes', 'I'], ['collision', 'Collision shapes', 'W'], ['trails', 'Trails', 'Y'], ['labels', 'Labels', 'Q'],
  ['grid', 'Grid', 'G'], ['shadows', 'Shadows', ''],
];
const VIEWS: [string, [number, number, number], string][] = [
  ['Perspective', [1, -1.7, 0.72], '0'], ['Front', [0, -1, 0.001], '1'], ['Side', [1, 0, 0.001], '2'], ['Top', [0, -0.001, 1], '3'],
];
const STATES = ['open', 'sticks', 'slips']; // by the state of a contact
const LABELS = ['bodies', 'joints', 'forces', 'frames'] as const;
const KEYS: [string, string][] = [
  ['Space', 'play or pause'], ['← →', 'one frame'], ['Home End', 'first, last'], ['[ ]', 'slower, faster'],
  ['0 1 2 3', 'views'], ['R', 'see everything'], ['F', 'follow'], ['Esc', 'select nothing'],
  ['V', 'contact forces'], ['C', 'contact points'], ['K', 'friction cones'], ['N', 'force network'],
  ['M', 'centers of mass'], ['P', 'support polygon'], ['A', 'frames'], ['J', 'joint axes'],
  ['I', 'inertia boxes'], ['W', 'collision shapes'], ['Y', 'trails'], ['Q', 'labels'], ['4 … 9', 'cameras of the model'], ['G', 'grid'], ['O', 'see through'],
  ['H', 'charts'], ['T', 'light or dark'], ['S', 'screenshot'], ['L', 'copy link'], ['/', 'search'], ['?', 'this help'],
];
const LIVE_KEYS: [string, string][] = [['Shift drag', 'pull a body'], ['Ctrl Shift drag', 'turn a body'], ['D', 'pull tool'], ['B', 'drop balls'], ['X', 'drop boxes'], ['.', 'one step'], ['Backspace', 'reset']];

type Tool = 'select' | 'drag' | 'ball' | 'box';

export class App {
  readonly stage = new Stage(new URLSearchParams(location.hash.slice(1)).get('quality') === 'low' ? 0 : isSoftware() ? 1 : 2);
  readonly clock: Clock;
  selected = 0;
  show: Show = { ...DEFAULT_SHOW };
  scriptMs = 0; // per drawn frame, averaged
  frames = 0; // drawn so far
  private shapes!: Shapes;
  private overlays!: Overlays;
  private kinematics!: Kinematics;
  private poses!: Poses;
  private nextPoses!: Poses;
  private mixed!: Poses;
  private frame!: Frame;
  private extent = { center: new THREE.Vector3(), radius: 1 };
  private posed: Float32Array | null = null;
  private marks: Mark[] = [];
  private charts: Chart[] = [];
  private connection: Connection | null = null;
  private dirty = true;
  private lastTick = 0;
  private lastPanel = 0;
  private lastChart = 0;
  private follow = false;
  private theme: 'light' | 'dark';
  private tool: Tool = 'select';
  private held: { body: number; local: [number, number, number]; plane: THREE.Plane; target: THREE.Vector3; start: [number, number]; turns: boolean; sent: number } | null = null;
  private span = new Span();
  private trails!: Trails;
  private trailSeconds = 2;
  private ghost: Ghost | null = null;
  private labels = new Labels();
  private labelKind: (typeof LABELS)[number] = 'bodies';
  private attached = -1; // frame of the model that is the camera; -1: none
  private pointer: [number, number] | null = null;
  private pointed = 0; // time at which the pointer came to rest
  private tip = el('div', { className: 'tip', hidden: true, role: 'tooltip' });
  private forces: number[] = []; // of usual frames
  private percentile = 0.9;
  private scaleText = el('span', { className: 'value' });
  private stopping = false; // pause at anomalies
  private warned = NaN; // time of the last pause at an anomaly
  private resetting = false;
  private ray = new THREE.Raycaster();
  private recorder: MediaRecorder | null = null;
  private transparent = false;
  private slow = 0; // frames in a row
  // elements
  private left = el('aside', { className: 'panel left', id: 'tree' });
  private right = el('aside', { className: 'panel right', id: 'side' });
  private tree = el('div', { className: 'tree', role: 'tree' });
  private search = el('input', { className: 'search', type: 'search', placeholder: 'Find a body or joint', 'aria-label': 'Find a body or joint' });
  private inspector = el('div', { id: 'inspector' });
  private jointRows = el('div');
  private status = el('span', { className: 'chip' });
  private playButton!: HTMLButtonElement;
  private timeText = el('span', { className: 'time', id: 'time' });
  private endText = el('span', { className: 'end' });
  private track = el('div', { className: 'track', id: 'track', role: 'slider', tabIndex: 0, 'aria-label': 'Time' });
  private trackCanvas = el('canvas');
  private head = el('div', { className: 'head' });
  private speed = el('select', { title: 'Speed', 'aria-label': 'Speed' });
  private chartPanel = el('div', { className: 'panel charts', hidden: true, id: 'charts' });
  private chartList = el('div', { className: 'list' });
  private boxes = new Map<keyof Show, HTMLInputElement>();
  private toolButtons = new Map<Tool, HTMLButtonElement>();
  private followButton!: HTMLButtonElement;
  private filmButton!: HTMLButtonElement;

  constructor(private source: Recording | Live, private root: HTMLElement) {
    this.clock = new Clock(source);
    this.theme = (document.documentElement.dataset.theme as 'light' | 'dark') ?? 'light';
    root.append(this.stage.element);
    this.stage.element.append(this.labels.canvas);
    document.body.append(this.tip);
    this.setUp();
    this.buildBar();
    this.buildLeft();
    this.buildRight();
    this.buildTransport();
    this.buildCharts();
    this.listen();
  }

  // ---- the model ----

  private setUp(): void {
    const model = this.source.model;
    this.kinematics = new Kinematics(model);
    this.poses = makePoses(model);
    this.nextPoses = makePoses(model);
    this.mixed = makePoses(model);
    this.frame = this.source.count() > 0 ? this.source.frame(0) : this.emptyFrame();
    this.kinematics.forward(this.frame, this.poses);
    this.mixed.set(this.poses);
    this.extent = bounds(model, this.poses);
    if (this.shapes) {
      this.shapes.dispose();
      this.stage.scene.remove(this.shapes.root, this.overlays.root);
    }
    this.shapes = new Shapes(model);
    this.shapes.build(this.show.collision);
    this.overlays = new Overlays(model, this.colors());
    this.overlays.size = this.extent.radius;
    this.trails = new Trails(model, this.kinematics);
    this.attached = -1;
    this.stage.setModel(model, this.poses, this.extent.radius, this.extent.center, this.theme);
    this.stage.scene.add(this.shapes.root, this.overlays.root);
    this.setForceScale();
    this.applyShow();
    this.dirty = true;
  }

  private emptyFrame(): Frame {
    const model = this.source.model;
    const q = new Float32Array(model.nq);
    for (const joint of model.joints) {
      if (joint.kind === 'free') q[joint.q + 3] = 1;
      if (joint.kind === 'spherical') q[joint.q] = 1;
    }
    return {
      time: 0, q, v: new Float32Array(model.nv), sensors: new Float32Array(0), kinematic: new Float32Array(0), kinetic: 0, potential: 0, residual: 0, iterations: 0, flags: 0,
      stages: new Float32Array(8), contacts: { count: 0, bodies: new Int32Array(0), data: new Float32Array(0), state: new Uint8Array(0) },
    };
  }

  // An arrow of the force at the percentile of usual frames is a third of the scene's radius long.
  private setForceScale(): void {
    const forces: number[] = [];
    const n = this.source.count();
    for (let s = 1; s <= 24 && n > 1; ++s) {
      const { contacts } = this.source.frame(Math.min(n - 1, Math.floor((s * n) / 24)));
      for (let i = 0; i < contacts.count; ++i) {
        const f = Math.hypot(contacts.data[CONTACT * i + 6], contacts.data[CONTACT * i + 7], contacts.data[CONTACT * i + 8]);
        if (f > 0) forces.push(f);
      }
    }
    this.forces = forces;
    this.scaleForces();
  }

  private scaleForces(): void {
    const usual = this.forces.length > 0 ? quantile(this.forces, this.percentile) : 9.81 * Math.max(this.source.model.mass, 1e-3) * 0.25;
    this.overlays.forceScale = (0.33 * this.extent.radius) / usual;
    this.scaleText.textContent = `${Math.round(100 * this.percentile)} %`;
    this.scaleText.title = `${withUnit(usual, 'N')} is a third of the scene's radius long`;
    this.dirty = true;
  }

  private colors() {
    const style = getComputedStyle(document.documentElement);
    const c = (name: string) => new THREE.Color(style.getPropertyValue(name).trim());
    return { stick: c('--stick'), slip: c('--slip'), open: c('--open'), accent: c('--warm') };
  }

  // ---- panels ----

  private buildBar(): void {
    const cameraMenu = iconButton('eye', 'Views', (e) => this.openViews(e));
    this.followButton = iconButton('follow', 'Follow the selection (F)', () => this.setFollow(!this.follow));
    this.filmButton = iconButton('film', 'Record a video (WebM)', () => this.toggleFilm());
    const bar = el('header', { className: 'panel bar' },
      iconButton('tree', 'Bodies and joints', () => this.togglePanel(this.left)),
      el('span', { className: 'mark' }, 'rigor'), el('span', { className: 'title' }, this.source.title.split('/').pop()!), this.status, el('span', { className: 'space' }));
    if (this.source.live) {
      for (const [tool, name, title] of [['drag', 'drag', 'Pull bodies (D)'], ['ball', 'ball', 'Drop balls (B)'], ['box', 'box', 'Drop boxes (X)']] as [Tool, string, string][]) {
        const b = iconButton(name, title, () => this.setTool(this.tool === tool ? 'select' : tool));
        this.toolButtons.set(tool, b);
        bar.append(b);
      }
    }
    bar.append(cameraMenu, this.followButton,
      iconButton('chart', 'Charts (H)', () => this.toggleCharts()),
      iconButton('camera', 'Screenshot (S)', () => this.screenshot()), this.filmButton,
      iconButton('link', 'Copy a link to this time and view (L)', () => this.copyLink()),
      iconButton('theme', 'Light or dark (T)', () => this.setTheme(this.theme === 'light' ? 'dark' : 'light')),
      iconButton('help', 'Keys (?)', () => this.help()),
      iconButton('panel', 'Details', () => this.togglePanel(this.right)));
    this.root.append(bar);
  }

  private togglePanel(panel: HTMLElement): void {
    panel.hidden = !panel.hidden;
  }

  private openViews(event: MouseEvent): void {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const menu = el('div', { className: 'panel menu' });
    const item = (name: string, key: string, run: () => void) =>
      menu.append(el('div', { className: 'node', onclick: () => { run(); menu.remove(); } }, name, el('kbd', {}, key)));
    for (const [name, direction, key] of VIEWS) item(name, key, () => this.lookFrom(direction));
    item('See everything', 'R', () => this.resetView());
    this.cameras().forEach((frame, i) => item(this.source.model.frames[frame].name, i < 6 ? String(i + 4) : '', () => this.attach(frame)));
    menu.style.top = `${box.bottom + 8}px`;
    menu.style.left = `${Math.min(box.left, innerWidth - 170)}px`;
    document.body.append(menu);
    setTimeout(() => document.addEventListener('pointerdown', (e) => { if (!menu.contains(e.target as Node)) menu.remove(); }, { once: true }));
  }

  private buildLeft(): void {
    this.left.append(this.search, this.tree);
    this.search.addEventListener('input', () => this.fillTree());
    this.root.append(this.left);
    this.left.hidden = innerWidth < 820 || innerHeight < 520;
    this.fillTree();
  }

  private fillTree(): void {
    const { bodies, joints } = this.source.model;
    const wanted = this.search.value.trim().toLowerCase();
    const children: number[][] = Array.from({ length: bodies.length + 1 }, () => []);
    bodies.forEach((b, i) => children[b.parent].push(i + 1));
    const rows: HTMLElement[] = [];
    const visit = (body: number, depth: number) => {
      if (rows.length > 2000) return;
      const name = bodies[body - 1].name;
      const own = joints.filter((j) => j.body === body && j.kind !== 'fixed');
      const hit = !wanted || name.toLowerCase().includes(wanted) || own.some((j) => j.name.toLowerCase().includes(wanted));
      if (hit) {
        const kind = own.length === 0 ? '' : own.length === 1 ? own[0].kind : `${own.length} joints`;
        const row = el('div', { className: 'node', role: 'treeitem', title: own.map((j) => j.name).join(', '), onclick: () => this.select(body) }, el('span', {}, name), el('small', {}, kind));
        row.style.paddingLeft = `${8 + 8 * Math.min(depth, 8)}px`;
        row.dataset.body = String(body);
        rows.push(row);
      }
      for (const child of children[body]) visit(child, wanted ? 0 : depth + 1);
    };
    for (const body of children[0]) visit(body, 0);
    this.tree.replaceChildren(...(rows.length > 0 ? rows : [el('div', { className: 'empty' }, bodies.length === 0 ? 'This scene has no bodies.' : 'No name contains that.')]));
    this.markTree();
  }

  private markTree(): void {
    for (const row of this.tree.querySelectorAll<HTMLElement>('.node')) {
      const on = Number(row.dataset.body) === this.selected && this.selected > 0;
      row.classList.toggle('on', on);
      if (on) row.scrollIntoView({ block: 'nearest' });
    }
  }

  private buildRight(): void {
    this.right.append(section('Selection', el('div', {}, this.inspector, this.jointRows)));
    if (this.source.live) this.right.append(section('Simulation', this.buildSimulation()), section('Push', this.buildPush(), true));
    if (this.source.live && this.source.model.actuators.length > 0) this.right.append(section('Controls', this.buildControls()));
    this.right.append(section('Show', this.buildShow(), innerHeight < 560));
    this.root.append(this.right);
    this.right.hidden = innerWidth < 820 || innerHeight < 520;
  }

  private buildShow(): HTMLElement {
    const box = el('div');
    for (const [key, name, letter] of SHOWN) {
      const check = el('input', { type: 'checkbox', checked: this.show[key], onchange: () => this.setShow(key, check.checked) });
      this.boxes.set(key, check);
      box.append(el('div', { className: 'row' }, el('label', {}, check, name), el('kbd', {}, letter)));
    }
    const scale = el('input', { type: 'range', min: -1.5, max: 1.5, step: 0.05, value: 0, title: 'Length of arrows', oninput: () => { this.overlays.factor = 10 ** Number(scale.value); this.dirty = true; } });
    const opacity = el('input', { type: 'range', min: 0.1, max: 1, step: 0.05, value: 1, id: 'opacity', title: 'Opacity', oninput: () => { this.shapes.setOpacity(Number(opacity.value)); this.dirty = true; } });
    const legend = el('div', { className: 'row' });
    for (const [name, color] of [['stick', '--stick'], ['slip', '--slip'], ['open', '--open']]) {
      const dot = el('span', { className: 'swatch' });
      dot.style.background = `var(${color})`;
      legend.append(dot, el('small', {}, name));
    }
    const share = el('input', { type: 'range', min: 0.5, max: 1, step: 0.01, value: this.percentile, 'aria-label': 'Percentile of forces that sets the scale of arrows', oninput: () => { this.percentile = Number(share.value); this.scaleForces(); } });
    const kind = el('select', { 'aria-label': 'Objects with labels', onchange: () => { this.labelKind = kind.value as typeof this.labelKind; this.setShow('labels', true); } }, ...LABELS.map((l) => el('option', {}, l)));
    const trail = el('input', { type: 'range', min: 0.2, max: 10, step: 0.1, value: this.trailSeconds, 'aria-label': 'Length of trails [s]', oninput: () => { this.trailSeconds = Number(trail.value); this.setShow('trails', true); } });
    box.append(el('div', { className: 'row' }, el('span', { className: 'name' }, 'Labels of'), kind), el('div', { className: 'row' }, el('span', { className: 'name' }, 'Trail time'), trail),
      el('div', { className: 'row' }, el('span', { className: 'name' }, 'Arrow scale'), share, this.scaleText), el('div', { className: 'row' }, el('span', { className: 'name' }, 'Arrow length'), scale), el('div', { className: 'row' }, el('span', { className: 'name' }, 'Opacity'), opacity), legend);
    return box;
  }

  private buildSimulation(): HTMLElement {
    const model = this.source.model;
    const box = el('div');
    const g = model.gravity ?? [0, 0, -9.81];
    const number = (value: number, title: string, send: (x: number) => Command) => {
      const input = el('input', { type: 'number', step: 'any', value: String(value), title, onchange: () => { const x = Number(input.value); if (isFinite(x) && input.value !== '') void this.send(send(x)); } });
      return input;
    };
    const solver = el('select', { onchange: () => void this.send({ do: 'solver', value: solver.value }) }, ...SOLVERS.map((s) => el('option', {}, s)));
    const key = el('select', { 'aria-label': 'Key frame', onchange: () => this.reset(Number(key.value)) }, el('option', { value: '-1' }, 'start'), ...model.keys.map((k, i) => el('option', { value: String(i) }, k.name)));
    const grid = el('div', { className: 'grid2' },
      'Gravity', number(g[2], 'Along z [m/s²]', (x) => ({ do: 'gravity', value: [0, 0, x] })),
      'Friction', number(NaN, 'Of every pair; empty: as the model says', (x) => ({ do: 'friction', value: x })),
      'Stiffness', number(NaN, 'Of every contact point [N/m]; 0: rigid', (x) => ({ do: 'stiffness', value: x })),
      'Time step', number(this.source.timeStep, '[s]', (x) => ({ do: 'dt', value: x })),
      'Speed', number(1, 'Times real time', (x) => ({ do: 'speed', value: x })),
      'Solver', solver, 'Start from', key);
    const button = (name: string, run: () => void) => el('button', { className: 'button', type: 'button', onclick: run }, name);
    const actions = el('div', { className: 'buttons' }, button('Reset', () => this.reset(Number(key.value))), button('Step', () => void this.send({ do: 'step' })), button('Copy state', () => this.copyState()));
    actions.style.marginTop = '8px';
    box.append(grid, actions);
    return box;
  }

  private reset(key: number): void {
    this.resetting = true; // seen as a whole again, once the frame is there
    void this.send({ do: 'reset', key });
  }

  // Time, q and v of the frame that is shown, as JSON.
  private copyState(): void {
    const text = JSON.stringify({ time: this.frame.time, q: Array.from(this.frame.q), v: Array.from(this.frame.v) });
    const fail = () => download('state.json', new Blob([text], { type: 'application/json' }));
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(() => toast('Time, q and v are in the clipboard.'), fail);
    else fail();
  }

  // A wrench in world axes at the center of mass of the selected body, until it is released.
  private buildPush(): HTMLElement {
    const box = el('div', { id: 'push' });
    const inputs = ['Fx', 'Fy', 'Fz', 'Tx', 'Ty', 'Tz'].map((name) => el('input', { type: 'number', step: 'any', value: '0', 'aria-label': `${name} of the wrench` }));
    const row = (name: string, from: number) => el('div', { className: 'row' }, el('span', { className: 'unit' }, name), ...inputs.slice(from, from + 3));
    const numbers = () => inputs.map((input) => Number(input.value) || 0);
    const apply = el('button', { className: 'button', type: 'button', onclick: () => {
      if (this.selected === 0) toast('Select a body first.');
      else void this.send({ do: 'wrench', body: this.selected, point: numbers().slice(0, 3), target: numbers().slice(3) });
    } }, 'Apply');
    const release = el('button', { className: 'button', type: 'button', onclick: () => void this.send({ do: 'release' }) }, 'Release');
    box.append(row('N', 0), row('N m', 3), el('div', { className: 'buttons' }, apply, release));
    return box;
  }

  // A slider per actuator. A scene that controls itself writes over it in the next step.
  private buildControls(): HTMLElement {
    const box = el('div', { className: 'controls' });
    const sliders: HTMLInputElement[] = [];
    this.source.model.actuators.forEach((actuator, index) => {
      const [low, high] = actuator.range ?? [-1, 1];
      const value = el('span', { className: 'value' });
      const show = () => { value.textContent = Number(slider.value).toPrecision(3); };
      const slider = el('input', { type: 'range', min: low, max: high, step: (high - low) / 500, 'aria-label': `control of ${actuator.name}`, oninput: () => { show(); void this.send({ do: 'control', index, value: Number(slider.value) }); } });
      slider.value = String(Math.min(Math.max(0, low), high));
      show();
      sliders.push(slider);
      box.append(el('div', { className: 'row' }, el('span', { className: 'name', title: actuator.name }, actuator.name), slider, value));
    });
    const zero = el('button', { className: 'button', type: 'button', onclick: () => sliders.forEach((slider) => { slider.value = '0'; slider.dispatchEvent(new Event('input')); }) }, 'Zero');
    box.append(el('div', { className: 'buttons' }, zero));
    return box;
  }

  private buildTransport(): void {
    this.playButton = iconButton('play', 'Play or pause (Space)', () => this.togglePlay());
    this.playButton.id = 'play';
    const back = iconButton('back', 'One frame back (←)', () => this.stepFrames(-1));
    const next = iconButton('next', 'One frame on (→)', () => this.stepFrames(1));
    back.classList.add('step');
    next.classList.add('step');
    const stop = iconButton('stop', 'Pause at anomalies and unsolved steps', () => {
      this.stopping = !this.stopping;
      stop.classList.toggle('on', this.stopping);
      if (this.source.live) void this.send({ do: 'watch', value: Number(this.stopping) });
    });
    stop.id = 'stop';
    for (const s of SPEEDS) this.speed.append(el('option', { value: String(s), selected: s === 1 }, `${s}×`));
    this.speed.addEventListener('change', () => this.setSpeed(Number(this.speed.value)));
    this.track.append(this.trackCanvas, this.head);
    const seek = (e: PointerEvent) => {
      const box = this.track.getBoundingClientRect();
      const share = Math.min(Math.max((e.clientX - box.left) / box.width, 0), 1);
      this.seek(this.clock.begin() + share * (this.clock.end() - this.clock.begin()));
    };
    this.track.addEventListener('pointerdown', (e) => { this.track.setPointerCapture(e.pointerId); seek(e); });
    this.track.addEventListener('pointermove', (e) => { if (e.buttons & 1) seek(e); });
    this.root.append(el('footer', { className: 'panel transport' }, back, this.playButton, next, this.source.live ? null : this.speed, stop, this.timeText, this.track, this.endText));
  }

  private buildCharts(): void {
    const add = el('select', { 'aria-label': 'Add a chart' }, el('option', { value: '' }, 'Add a chart'));
    for (const [id, name] of plotIds(this.source.model)) add.append(el('option', { value: id }, name));
    add.addEventListener('change', () => { this.addChart(add.value); add.value = ''; });
    this.chartPanel.append(this.chartList, el('div', { className: 'add' }, add));
    this.root.append(this.chartPanel);
    for (const id of innerWidth > 820 ? ['energy', 'contacts', 'residual'] : ['energy', 'contacts']) this.addChart(id);
  }

  addChart(id: string): void {
    const plot = findPlot(this.source.model, id);
    if (!plot || this.charts.some((c) => c.plot.id === id)) return;
    const chart = new Chart(plot, this.source, this.span, (time) => this.seek(time), () => {
      this.charts = this.charts.filter((c) => c !== chart);
      chart.element.remove();
    });
    this.charts.push(chart);
    this.chartList.append(chart.element);
    this.drawCharts();
  }

  private drawCharts(): void {
    if (this.chartPanel.hidden) return;
    for (const chart of this.charts) chart.draw();
    this.markCharts();
  }

  private markCharts(): void {
    if (!this.chartPanel.hidden) for (const chart of this.charts) chart.mark(this.clock.time(), this.frame);
  }

  toggleCharts(): void {
    this.chartPanel.hidden = !this.chartPanel.hidden;
    document.body.classList.toggle('charts-open', !this.chartPanel.hidden);
    this.drawCharts();
  }

  // ---- the inspector ----

  private vector(values: ArrayLike<number>, digits = 3): string {
    return Array.from(values, (x) => (Math.abs(x) < 0.5 * 10 ** -digits ? 0 : x).toFixed(digits)).join('  ');
  }

  private fillInspector(): void {
    const f = this.frame;
    if (this.selected === 0) {
      const moving = this.source.model.bodies.filter((b) => b.moves).length;
      this.inspector.replaceChildren(facts([
        ['Moving bodies', String(moving)], ['Mass', mass(this.source.model.mass)], ['Contacts', String(f.contacts.count)],
        ['Residual', f.residual.toExponential(1)], ['Iterations', String(f.iterations)], ['Kinetic energy', withUnit(f.kinetic, 'J')], ['Time step', withUnit(this.source.timeStep, 's')],
      ]));
      return;
    }
    const body = this.source.model.bodies[this.selected - 1];
    const o = 7 * this.selected;
    const p = this.mixed;
    const i = this.clock.index();
    const rate = this.rateOf(i);
    const degrees = rollPitchYaw(p[o + 3], p[o + 4], p[o + 5], p[o + 6]).map((x) => (x * 180) / Math.PI);
    const force = forceOn(f, this.selected);
    const touching = new Map<string, number>();
    let touched = 0;
    for (let k = 0; k < f.contacts.count; ++k) {
      const [a, b] = [f.contacts.bodies[2 * k], f.contacts.bodies[2 * k + 1]];
      if (a !== this.selected && b !== this.selected) continue;
      touched += 1;
      const other = a === this.selected ? b : a;
      const name = other === 0 ? 'world' : this.source.model.bodies[other - 1].name;
      const size = Math.hypot(f.contacts.data[CONTACT * k + 6], f.contacts.data[CONTACT * k + 7], f.contacts.data[CONTACT * k + 8]);
      touching.set(name, (touching.get(name) ?? 0) + size);
    }
    const rows: [string, string][] = [
      ['Mass', mass(body.mass)], ['Position', this.vector([p[o], p[o + 1], p[o + 2]])], ['Roll pitch yaw', this.vector(degrees, 1) + '°'],
      ['Velocity', this.vector(rate.slice(0, 3))], ['Rotation', this.vector(rate.slice(3))], ['Contact force', withUnit(Math.hypot(...force), 'N')],
    ];
    this.inspector.replaceChildren(el('h3', { id: 'selected' }, body.name), facts(rows), el('h3', {}, touched === 0 ? 'No contacts' : `${touched} contact${touched === 1 ? '' : 's'}`),
      facts([...touching].slice(0, 6).map(([name, size]) => [name, withUnit(size, 'N')])));
  }

  private rateOf(i: number): number[] {
    const a = i > 0 ? i - 1 : i;
    const b = i > 0 ? i : Math.min(i + 1, this.source.count() - 1);
    if (a === b || this.source.count() < 2) return [0, 0, 0, 0, 0, 0];
    const before = makePoses(this.source.model);
    const after = makePoses(this.source.model);
    this.kinematics.forward(this.source.frame(a), before);
    this.kinematics.forward(this.source.frame(b), after);
    return velocity(before, after, this.selected, this.source.time(b) - this.source.time(a));
  }

  private fillJoints(): void {
    const joints = this.selected > 0 ? this.kinematics.jointsOf(this.selected).filter((j) => j.nq === 1) : [];
    this.jointRows.replaceChildren();
    if (joints.length === 0) return;
    this.jointRows.append(el('h3', {}, 'Joints'));
    for (const joint of joints) {
      const [low, high] = joint.limits ?? (joint.kind === 'revolute' ? [-Math.PI, Math.PI] : [-1, 1]);
      const value = el('span', { className: 'value' });
      const slider = el('input', { type: 'range', min: low, max: high, step: (high - low) / 500, 'aria-label': joint.name, oninput: () => this.pose(joint.q, Number(slider.value)) });
      slider.dataset.q = String(joint.q);
      slider.dataset.unit = joint.kind === 'revolute' ? 'rad' : 'm';
      this.jointRows.append(el('div', { className: 'row' }, el('span', { className: 'name', title: joint.name }, joint.name), slider, value));
    }
    this.updateJoints();
  }

  private updateJoints(): void {
    const q = this.posed ?? this.frame.q;
    for (const slider of this.jointRows.querySelectorAll<HTMLInputElement>('input')) {
      const x = q[Number(slider.dataset.q)];
      if (document.activeElement !== slider || !this.posed) slider.value = String(x);
      slider.nextElementSibling!.textContent = `${x.toFixed(3)} ${slider.dataset.unit}`;
    }
  }

  // Paused, the robot takes the pose of the sliders.
  pose(index: number, value: number): void {
    this.clock.pause();
    this.posed = Float32Array.from(this.posed ?? this.frame.q);
    this.posed[index] = value;
    if (this.source.live) void this.send({ do: 'pose', index, value });
    this.dirty = true;
    this.updateJoints();
  }

  // ---- actions ----

  select(body: number): void {
    this.selected = body;
    this.shapes.select(body, this.colors().accent);
    this.markTree();
    this.fillInspector();
    this.fillJoints();
    this.dirty = true;
  }

  setShow(key: keyof Show, on: boolean): void {
    this.show[key] = on;
    this.applyShow();
    if (key === 'collision') {
      this.shapes.build(on);
      this.shapes.place(this.mixed);
    }
    this.dirty = true;
  }

  private applyShow(): void {
    for (const [key, box] of this.boxes) box.checked = this.show[key];
    this.stage.setGrid(this.show.grid);
    this.stage.setShadows(this.show.shadows);
  }

  setTheme(theme: 'light' | 'dark'): void {
    this.theme = theme;
    document.documentElement.dataset.theme = theme;
    this.stage.setTheme(theme);
    this.overlays.setColors(this.colors());
    this.shapes.select(this.selected, this.colors().accent);
    this.drawTrack();
    this.drawCharts();
    this.dirty = true;
  }

  seek(time: number): void {
    this.posed = null;
    this.clock.seek(time);
    this.dirty = true;
  }

  togglePlay(): void {
    this.posed = null;
    if (this.source.live) {
      const paused = (this.source as Live).paused;
      void this.send({ do: paused ? 'play' : 'pause' });
      this.clock.following = true;
    } else {
      this.clock.toggle();
    }
    this.updatePlay();
  }

  private stepFrames(direction: number): void {
    this.posed = null;
    if (this.source.live && direction > 0 && this.clock.following) {
      void this.send({ do: 'step' });
    } else {
      this.clock.step(direction);
      this.dirty = true;
    }
    this.updatePlay();
  }

  private setSpeed(speed: number): void {
    this.clock.speed = speed;
    this.speed.value = String(speed);
  }

  private updatePlay(): void {
    const running = this.source.live ? !(this.source as Live).paused : this.clock.playing;
    const name = running ? 'pause' : 'play';
    if (this.playButton.dataset.icon !== name) {
      this.playButton.dataset.icon = name;
      setIcon(this.playButton, name);
    }
  }

  setFollow(on: boolean): void {
    this.follow = on;
    this.followButton.classList.toggle('on', on);
    this.dirty = true;
  }

  private focus(): THREE.Vector3 {
    if (this.selected > 0) return new THREE.Vector3(...toWorld(this.mixed, this.selected, this.source.model.bodies[this.selected - 1].com));
    const sum = new THREE.Vector3();
    let mass = 0;
    this.source.model.bodies.forEach((b, i) => {
      if (!b.moves || !(b.mass > 0)) return;
      sum.addScaledVector(new THREE.Vector3(...toWorld(this.mixed, i + 1, b.com)), b.mass);
      mass += b.mass;
    });
    return mass > 0 ? sum.divideScalar(mass) : this.extent.center.clone();
  }

  private distance(radius: number): number {
    const narrow = Math.min(1, this.stage.camera.aspect / 1.1);
    return (1.45 * radius) / Math.tan((0.5 * this.stage.camera.fov * Math.PI) / 180) / 1.25 / narrow;
  }

  lookFrom(direction: [number, number, number]): void {
    this.attach(-1);
    this.stage.look(direction, this.stage.controls.target.clone(), this.stage.camera.position.distanceTo(this.stage.controls.target));
    this.dirty = true;
  }

  resetView(): void {
    this.attach(-1);
    const now = bounds(this.source.model, this.mixed);
    const scattered = now.radius > 4 * this.extent.radius;
    const center = scattered ? this.focus() : now.center;
    this.stage.look(VIEWS[0][1], center, this.distance(scattered ? this.extent.radius : now.radius));
    this.dirty = true;
  }

  // Frames of the model that are cameras.
  private cameras(): number[] {
    return this.source.model.frames.flatMap((frame, i) => (frame.fov ? [i] : []));
  }

  // Look through a camera of the model, by the number of its frame; -1: freely again.
  attach(frame: number): void {
    if (this.attached === frame) return;
    const before = this.attached;
    this.attached = frame;
    this.stage.controls.enabled = frame < 0;
    if (frame < 0 && before >= 0) {
      this.stage.setFov(0);
      this.stage.camera.up.set(0, 0, 1);
      this.resetView();
    }
    this.dirty = true;
  }

  private lookThrough(): void {
    const frame = this.source.model.frames[this.attached];
    const p = new Float64Array(7);
    compose(this.mixed, 7 * frame.body, frame.pose, 0, p, 0);
    this.stage.camera.position.set(p[0], p[1], p[2]);
    this.stage.camera.quaternion.set(p[4], p[5], p[6], p[3]);
    this.stage.setFov((frame.fov! * 180) / Math.PI);
  }

  // The picture with its labels.
  private picture(): HTMLCanvasElement {
    const canvas = this.stage.renderer.domElement;
    if (this.labels.count === 0) return canvas;
    const copy = document.createElement('canvas');
    copy.width = canvas.width;
    copy.height = canvas.height;
    const g = copy.getContext('2d')!;
    g.drawImage(canvas, 0, 0);
    g.drawImage(this.labels.canvas, 0, 0, canvas.width, canvas.height);
    return copy;
  }

  screenshot(): void {
    this.draw();
    this.picture().toBlob((blob) => { if (blob) download(`rigor-${this.clock.time().toFixed(3)}s.png`, blob); });
  }

  private toggleFilm(): void {
    if (this.recorder) {
      this.recorder.stop();
      return;
    }
    if (typeof MediaRecorder === 'undefined') {
      toast('This browser cannot record video.');
      return;
    }
    const type = ['video/webm;codecs=vp9', 'video/webm;codecs=vp8', 'video/webm'].find((t) => MediaRecorder.isTypeSupported(t));
    const parts: Blob[] = [];
    this.recorder = new MediaRecorder(this.stage.renderer.domElement.captureStream(60), { mimeType: type, videoBitsPerSecond: 12e6 });
    this.recorder.ondataavailable = (e) => parts.push(e.data);
    this.recorder.onstop = () => {
      download('rigor.webm', new Blob(parts, { type: 'video/webm' }));
      this.recorder = null;
      this.filmButton.classList.remove('on');
    };
    this.recorder.start();
    this.filmButton.classList.add('on');
    toast('Recording video; press again to stop.');
  }

  link(): string {
    const { camera, controls } = this.stage;
    const shown = SHOWN.map(([key]) => key).filter((key) => this.show[key]);
    return location.href.replace(/#.*/, '') + writeLink({
      time: this.clock.time(), camera: this.attached >= 0 ? this.source.model.frames[this.attached].name : undefined, eye: camera.position.toArray(), target: controls.target.toArray(),
      body: this.selected > 0 ? this.source.model.bodies[this.selected - 1].name : undefined, show: shown,
    });
  }

  private copyLink(): void {
    const link = this.link();
    history.replaceState(null, '', link);
    const done = () => toast('The link is in the clipboard.');
    if (navigator.clipboard) navigator.clipboard.writeText(link).then(done, () => toast('The link is in the address bar.'));
    else toast('The link is in the address bar.');
  }

  applyLink(hash: string): boolean {
    const link = readLink(hash);
    if (link.time !== undefined) {
      this.clock.pause();
      this.seek(link.time);
    }
    if (link.show) for (const [key] of SHOWN) this.setShow(key, link.show.includes(key));
    if (link.body) this.select(this.source.model.bodies.findIndex((b) => b.name === link.body) + 1);
    if (link.eye && link.target) {
      this.attach(-1);
      this.stage.camera.position.fromArray(link.eye);
      this.stage.controls.target.fromArray(link.target);
      this.stage.controls.update();
    }
    if (link.camera) this.attach(this.source.model.frames.findIndex((f) => f.fov && f.name === link.camera));
    return link.time !== undefined;
  }

  help(): void {
    const open = document.querySelector('.over');
    if (open) {
      open.remove();
      return;
    }
    const list = el('dl');
    for (const [key, what] of KEYS.concat(this.source.live ? LIVE_KEYS : [])) list.append(el('dt', {}, el('kbd', {}, key)), el('dd', {}, what));
    const over = el('div', { className: 'over help', onclick: () => over.remove() },
      el('div', { className: 'card', role: 'dialog', 'aria-label': 'Keys' }, el('h1', {}, 'Keys'), el('p', {}, 'Drag to turn, drag with the right button to move, scroll to zoom, click a body to select it.'), list));
    document.body.append(over);
  }

  // ---- a running simulation ----

  private async send(command: Command): Promise<void> {
    const fault = await this.connection?.send(command);
    if (fault) toast(fault);
  }

  private setTool(tool: Tool): void {
    this.tool = tool;
    for (const [name, button] of this.toolButtons) button.classList.toggle('on', name === tool);
    this.stage.renderer.domElement.style.cursor = tool === 'select' ? '' : 'crosshair';
  }

  private aimRay(e: { clientX: number; clientY: number }): void {
    const box = this.stage.renderer.domElement.getBoundingClientRect();
    this.ray.setFromCamera(new THREE.Vector2((2 * (e.clientX - box.left)) / box.width - 1, 1 - (2 * (e.clientY - box.top)) / box.height), this.stage.camera);
  }

  // Hold the body under the pointer with a spring.
  private hold(e: PointerEvent): boolean {
    this.aimRay(e);
    const hit = this.shapes.hit(this.ray);
    const body = this.source.model.bodies[(hit?.body ?? 0) - 1];
    if (!hit || !body?.moves || body.kinematic) return false;
    const normal = this.stage.camera.getWorldDirection(new THREE.Vector3());
    this.held = {
      body: hit.body, local: toBody(this.mixed, hit.body, hit.point.toArray()), plane: new THREE.Plane().setFromNormalAndCoplanarPoint(normal, hit.point),
      target: hit.point.clone(), start: [e.clientX, e.clientY], turns: e.ctrlKey, sent: 0,
    };
    this.stage.controls.enabled = false;
    this.select(hit.body);
    return true;
  }

  private pull(e: PointerEvent): void {
    if (!this.held) return;
    this.aimRay(e);
    const now = performance.now();
    const due = now - this.held.sent > 30;
    if (due) this.held.sent = now;
    if (this.held.turns) {
      // A torque about the axes of the picture, of a weight's moment per half a window.
      const model = this.source.model;
      const most = (9.81 * Math.max(model.mass, 1e-3) * this.extent.radius) / (0.5 * innerHeight);
      const [dx, dy] = [e.clientX - this.held.start[0], e.clientY - this.held.start[1]];
      const torque = new THREE.Vector3(dy, dx, 0).multiplyScalar(most).applyQuaternion(this.stage.camera.quaternion);
      if (due) void this.send({ do: 'wrench', body: this.held.body, point: [0, 0, 0], target: torque.toArray() });
    } else {
      this.ray.ray.intersectPlane(this.held.plane, this.held.target);
      if (due) void this.send({ do: 'drag', body: this.held.body, point: this.held.local, target: this.held.target.toArray() });
    }
    this.dirty = true;
  }

  private release(): void {
    if (!this.held) return;
    this.held = null;
    this.stage.controls.enabled = true;
    this.overlays.drawSpring(null);
    void this.send({ do: 'release' });
    this.dirty = true;
  }

  private drop(e: PointerEvent): void {
    this.aimRay(e);
    const hit = this.shapes.hit(this.ray);
    const ground = this.stage.onGround(this.ray);
    const point = hit && (!ground || hit.distance < ground.distanceTo(this.ray.ray.origin)) ? hit.point : ground;
    if (!point) return;
    const size = 0.12 * this.extent.radius;
    void this.send({ do: 'drop', shape: this.tool, size, point: [point.x, point.y, point.z + 0.9 * this.extent.radius] });
  }

  private connect(): void {
    const live = this.source as Live;
    this.connection = new Connection(live);
    this.clock.following = true;
    this.clock.playing = true;
    this.connection.onframe = () => {
      if (live.count() === 1) this.setForceScale();
      if (live.count() % 120 === 60) this.setForceScale();
      if (this.resetting && live.count() <= 2) {
        this.resetting = false;
        this.draw();
        this.resetView();
      }
      const last = live.frame(live.count() - 1);
      if (live.stopped && this.warned !== last.time) toast(last.flags & UNSOLVED ? 'Paused: the step was not solved to tolerance.' : 'Paused: energy, forces or depths are beyond what the motion explains.');
      this.warned = live.stopped ? last.time : NaN;
      this.dirty = true;
    };
    this.connection.onmodel = () => {
      const eye = this.stage.camera.position.clone();
      const target = this.stage.controls.target.clone();
      this.select(0);
      const { center, radius } = this.extent;
      this.setUp();
      this.extent = { center, radius };
      this.overlays.size = radius;
      this.stage.setModel(live.model, this.poses, radius, center, this.theme);
      this.stage.camera.position.copy(eye);
      this.stage.controls.target.copy(target);
      this.fillTree();
    };
    this.connection.onstate = (connected) => {
      this.status.dataset.connected = String(connected);
    };
    this.connection.open();
  }

  private updateStatus(): void {
    let text = this.posed ? 'posed' : 'recording';
    let kind = '';
    if (this.source.live) {
      const live = this.source as Live;
      const connected = this.status.dataset.connected === 'true';
      text = !connected ? 'not connected' : !this.clock.following ? 'history' : live.paused ? 'paused' : `live · ${live.realTime.toFixed(2)}× real time`;
      kind = !connected ? 'bad' : this.clock.following ? 'live' : '';
    }
    if (this.status.textContent !== text) this.status.textContent = text;
    this.status.className = `chip ${kind}`;
  }

  // ---- events ----

  private listen(): void {
    const canvas = this.stage.renderer.domElement;
    let down: [number, number] | null = null;
    canvas.addEventListener('pointerdown', (e) => {
      down = [e.clientX, e.clientY];
      if (this.source.live && e.button === 0 && (e.shiftKey || this.tool === 'drag') && this.hold(e)) {
        canvas.setPointerCapture(e.pointerId);
        e.stopImmediatePropagation();
        down = null;
      }
    }, { capture: true });
    canvas.addEventListener('pointermove', (e) => {
      this.pull(e);
      this.pointer = e.buttons === 0 ? [e.clientX, e.clientY] : null;
      this.pointed = performance.now();
      this.tip.hidden = true;
    });
    canvas.addEventListener('pointerleave', () => {
      this.pointer = null;
      this.tip.hidden = true;
    });
    window.addEventListener('dragover', (e) => e.preventDefault());
    window.addEventListener('drop', (e) => {
      e.preventDefault();
      const file = e.dataTransfer?.files[0];
      if (file) void this.open(file.name, file);
    });
    canvas.addEventListener('pointerup', (e) => {
      this.release();
      if (!down || Math.hypot(e.clientX - down[0], e.clientY - down[1]) > 4 || e.button !== 0) return;
      if (this.tool === 'ball' || this.tool === 'box') {
        this.drop(e);
        return;
      }
      this.aimRay(e);
      this.select(this.shapes.hit(this.ray)?.body ?? 0);
    });
    this.stage.controls.addEventListener('change', () => (this.dirty = true));
    this.status.addEventListener('click', () => { if (this.source.live) this.clock.following = true; });
    window.addEventListener('keydown', (e) => this.key(e));
    window.addEventListener('hashchange', () => this.applyLink(location.hash));
    new ResizeObserver(() => this.resize()).observe(this.stage.element);
  }

  private key(e: KeyboardEvent): void {
    const field = e.target instanceof HTMLInputElement && e.target.type !== 'range' && e.target.type !== 'checkbox';
    if (e.key === 'Escape') {
      document.querySelector('.over')?.remove();
      (document.activeElement as HTMLElement | null)?.blur();
      this.setTool('select');
      this.select(0);
      return;
    }
    if (field || e.ctrlKey || e.metaKey || e.altKey || e.target instanceof HTMLSelectElement) return;
    const shown = SHOWN.find(([, , letter]) => letter && letter.toLowerCase() === e.key.toLowerCase());
    const view = VIEWS.find(([, , k]) => k === e.key);
    const camera = /^[4-9]$/.test(e.key) ? this.cameras()[Number(e.key) - 4] : undefined;
    const at = SPEEDS.indexOf(this.clock.speed);
    const actions: Record<string, () => void> = {
      ' ': () => this.togglePlay(), ArrowLeft: () => this.stepFrames(-1), ArrowRight: () => this.stepFrames(1),
      Home: () => this.seek(this.clock.begin()), End: () => (this.source.live ? (this.clock.following = true) : this.seek(this.clock.end())),
      '[': () => this.setSpeed(SPEEDS[Math.max(at - 1, 0)]), ']': () => this.setSpeed(SPEEDS[Math.min(at + 1, SPEEDS.length - 1)]),
      r: () => this.resetView(), f: () => this.setFollow(!this.follow), h: () => this.toggleCharts(), t: () => this.setTheme(this.theme === 'light' ? 'dark' : 'light'),
      s: () => this.screenshot(), l: () => this.copyLink(), '?': () => this.help(), '/': () => { this.left.hidden = false; this.search.focus(); },
      o: () => { this.transparent = !this.transparent; this.shapes.setOpacity(this.transparent ? 0.3 : 1); this.dirty = true; },
    };
    if (this.source.live) {
      Object.assign(actions, {
        d: () => this.setTool(this.tool === 'drag' ? 'select' : 'drag'), b: () => this.setTool(this.tool === 'ball' ? 'select' : 'ball'), x: () => this.setTool(this.tool === 'box' ? 'select' : 'box'),
        '.': () => void this.send({ do: 'step' }), Backspace: () => this.reset(-1),
      });
    }
    const run = actions[e.key] ?? actions[e.key.toLowerCase()] ?? (shown ? () => this.setShow(shown[0], !this.show[shown[0]]) : view ? () => this.lookFrom(view[1]) : camera !== undefined ? () => this.attach(camera) : null);
    if (run) {
      e.preventDefault();
      run();
    }
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.stage.element;
    this.stage.resize(clientWidth, clientHeight);
    this.labels.resize(clientWidth, clientHeight, Math.min(window.devicePixelRatio || 1, 2));
    this.drawTrack();
    this.drawCharts();
    this.dirty = true;
  }

  private drawTrack(): void {
    const ratio = window.devicePixelRatio || 1;
    const style = getComputedStyle(document.documentElement);
    const width = (this.trackCanvas.width = Math.max(1, Math.floor(this.track.clientWidth * ratio)));
    const height = (this.trackCanvas.height = Math.max(1, Math.floor(this.track.clientHeight * ratio)));
    const g = this.trackCanvas.getContext('2d')!;
    const middle = height / 2;
    g.clearRect(0, 0, width, height);
    g.fillStyle = style.getPropertyValue('--line').trim();
    g.beginPath();
    g.roundRect(0, middle - 2 * ratio, width, 4 * ratio, 2 * ratio);
    g.fill();
    const [begin, end] = [this.clock.begin(), this.clock.end()];
    for (const mark of this.marks) {
      const x = (width * (mark.time - begin)) / Math.max(end - begin, 1e-9);
      g.fillStyle = style.getPropertyValue(mark.kind === 'impact' ? '--warm' : mark.kind === 'unsolved' ? '--bad' : '--slip').trim();
      if (mark.kind === 'impact') {
        g.beginPath();
        g.arc(x, middle - 10 * ratio, 2.5 * ratio, 0, 2 * Math.PI);
        g.fill();
      } else {
        g.fillRect(x - 0.75 * ratio, middle + 6 * ratio, 1.5 * ratio, 6 * ratio);
      }
    }
  }

  // ---- the loop ----

  // Poses at the time of the clock, or of the sliders.
  private place(): void {
    if (this.source.count() === 0) return;
    const i = this.clock.index();
    this.frame = this.source.frame(i);
    this.kinematics.forward({ q: this.posed ?? this.frame.q, kinematic: this.frame.kinematic }, this.poses);
    const share = this.posed ? 0 : this.clock.share();
    if (share > 0) {
      this.kinematics.forward(this.source.frame(i + 1), this.nextPoses);
      blend(this.poses, this.nextPoses, share, this.mixed);
    } else {
      this.mixed.set(this.poses);
    }
    this.shapes.place(this.mixed);
    const now = this.clock.time();
    if (this.show.trails) this.trails.update(this.source, this.selected);
    this.overlays.draw(this.show, this.frame, this.mixed, this.selected, this.trails, now - this.trailSeconds, now);
    this.ghost?.place(now);
    if (this.held && !this.held.turns) this.overlays.drawSpring(toWorld(this.mixed, this.held.body, this.held.local), this.held.target.toArray());
  }

  private followFocus(): void {
    const focus = this.focus();
    if (this.follow) {
      const step = focus.clone().sub(this.stage.controls.target);
      this.stage.camera.position.add(step);
      this.stage.controls.target.add(step);
    }
    if (focus.distanceTo(this.extent.center) < 1e6) this.stage.aim(this.follow || focus.distanceTo(this.extent.center) > this.extent.radius ? focus : this.extent.center);
  }

  draw(): void {
    this.place();
    this.followFocus();
    if (this.attached >= 0) this.lookThrough();
    this.stage.render();
    this.labels.draw(this.show.labels ? this.findLabels() : [], this.stage.camera);
    this.frames += 1;
  }

  private findLabels(): Label[] {
    const { model } = this.source;
    const at = (body: number, point: ArrayLike<number>) => toWorld(this.mixed, body, point);
    switch (this.labelKind) {
      case 'joints':
        return model.joints.filter((j) => j.nq === 1 && (this.selected === 0 || j.body === this.selected))
          .map((j) => ({ point: at(j.body, j.anchor), text: `${j.name} ${(this.posed ?? this.frame.q)[j.q].toFixed(3)} ${j.kind === 'prismatic' ? 'm' : 'rad'}`, strong: j.body === this.selected }));
      case 'frames':
        return model.frames.map((f) => ({ point: at(f.body, f.pose), text: f.name, strong: f.body === this.selected }));
      case 'forces':
        return Array.from({ length: this.frame.contacts.count }, (_, i) => this.labelContact(i)).filter((l): l is Label => l !== null);
      default:
        return model.bodies.flatMap((b, i) => (b.moves && b.mass > 0 ? [{ point: at(i + 1, b.com), text: b.name, strong: i + 1 === this.selected }] : []));
    }
  }

  private labelContact(i: number): Label | null {
    const d = this.frame.contacts.data;
    const o = CONTACT * i;
    const force = Math.hypot(d[o + 6], d[o + 7], d[o + 8]);
    return force > 0 ? { point: [d[o], d[o + 1], d[o + 2]], text: withUnit(force, 'N') } : null;
  }

  // ---- hover ----

  private nameOf(body: number): string {
    return body === 0 ? 'world' : this.source.model.bodies[body - 1].name;
  }

  // A contact that is drawn within some pixels of the pointer.
  private contactAt(x: number, y: number): number {
    const c = this.frame.contacts;
    const box = this.stage.renderer.domElement.getBoundingClientRect();
    const v = new THREE.Vector3();
    let best = -1;
    let nearest = 10;
    for (let i = 0; (this.show.forces || this.show.points) && i < c.count; ++i) {
      v.fromArray(c.data, CONTACT * i).project(this.stage.camera);
      const distance = Math.hypot(box.left + 0.5 * (v.x + 1) * box.width - x, box.top + 0.5 * (1 - v.y) * box.height - y);
      if (v.z < 1 && distance < nearest && (this.show.points || c.state[i] !== OPEN)) {
        nearest = distance;
        best = i;
      }
    }
    return best;
  }

  private describeContact(i: number): [string, [string, string][]] {
    const { data, bodies, state } = this.frame.contacts;
    const o = CONTACT * i;
    const f = [data[o + 6], data[o + 7], data[o + 8]];
    const normal = f[0] * data[o + 3] + f[1] * data[o + 4] + f[2] * data[o + 5];
    const size = Math.hypot(f[0], f[1], f[2]);
    return [`${this.nameOf(bodies[2 * i])} – ${this.nameOf(bodies[2 * i + 1])}`, [
      ['Contact', STATES[state[i]] ?? ''], ['Force', withUnit(size, 'N')], ['Normal', withUnit(normal, 'N')], ['Friction', withUnit(Math.sqrt(Math.max(size * size - normal * normal, 0)), 'N')],
      ['Gap', withUnit(data[o + 9], 'm')], ['Coefficient', String(Number(data[o + 10].toPrecision(3)))],
    ]];
  }

  private describeShape(hit: { body: number; shape: number; point: THREE.Vector3 }): [string, [string, string][]] {
    const q = this.posed ?? this.frame.q;
    const rows: [string, string][] = [['Shape', this.source.model.shapes[hit.shape].name]];
    if (hit.body > 0) {
      for (const j of this.kinematics.jointsOf(hit.body)) {
        if (j.nq === 1) rows.push([j.name, `${q[j.q].toFixed(3)} ${j.kind === 'prismatic' ? 'm' : 'rad'}`, ]);
      }
      const force = Math.hypot(...forceOn(this.frame, hit.body));
      if (force > 0) rows.push(['Contact force', withUnit(force, 'N')]);
      if (this.source.model.bodies[hit.body - 1].mass > 0) rows.push(['Mass', mass(this.source.model.bodies[hit.body - 1].mass)]);
    }
    rows.push(['Point', this.vector(hit.point.toArray())]);
    return [this.nameOf(hit.body), rows];
  }

  // Names and values of what the pointer rests on.
  private hover(): void {
    if (!this.pointer || !this.tip.hidden || performance.now() - this.pointed < 150) return;
    const [x, y] = this.pointer;
    this.pointed = Infinity; // once, until it moves again
    this.aimRay({ clientX: x, clientY: y });
    const contact = this.contactAt(x, y);
    const hit = contact < 0 ? this.shapes.hit(this.ray) : null;
    if (contact < 0 && !hit) return;
    const [title, rows] = hit ? this.describeShape(hit) : this.describeContact(contact);
    this.tip.replaceChildren(el('b', {}, title), facts(rows));
    this.tip.hidden = false;
    this.tip.style.left = `${Math.min(x + 14, innerWidth - this.tip.offsetWidth - 8)}px`;
    this.tip.style.top = `${Math.min(y + 14, innerHeight - this.tip.offsetHeight - 8)}px`;
  }

  // ---- a second recording ----

  setGhost(source: Recording | Live | null): void {
    if (this.ghost) {
      this.stage.scene.remove(this.ghost.root);
      this.ghost.dispose();
    }
    this.ghost = source ? new Ghost(source, this.colors().accent) : null;
    if (this.ghost) this.stage.scene.add(this.ghost.root);
    this.dirty = true;
  }

  // A file that was dropped onto the page: an exported page becomes a ghost of this one.
  async open(name: string, file: Blob): Promise<void> {
    try {
      const found = /<script[^>]*id="rigor-data"[^>]*>([^<]*)</.exec(await file.text());
      if (!found) throw new Error(`${name} is not a page of rigor view --export.`);
      this.setGhost(decode(await gunzip(fromBase64(found[1].trim()))));
      toast(`${name} is shown see-through.`);
    } catch (fault) {
      toast(fault instanceof Error ? fault.message : String(fault));
    }
  }

  private updateTransport(): void {
    const [begin, end, now] = [this.clock.begin(), this.clock.end(), this.clock.time()];
    this.timeText.textContent = formatTime(now);
    this.endText.textContent = formatTime(end);
    this.head.style.left = `${(100 * (now - begin)) / Math.max(end - begin, 1e-9)}%`;
    this.track.setAttribute('aria-valuenow', now.toFixed(3));
    this.track.setAttribute('aria-valuemin', begin.toFixed(3));
    this.track.setAttribute('aria-valuemax', end.toFixed(3));
  }

  // Twelve frames in a row that take over 70 ms each are too slow to watch; two of half a second.
  private judgeSpeed(milliseconds: number): void {
    this.slow = milliseconds > 500 ? this.slow + 6 : milliseconds > 70 ? this.slow + 1 : 0;
    if (this.slow >= 12) {
      this.slow = 0;
      if (this.stage.lowerQuality()) this.resize();
    }
  }

  // A recording that plays stops where a step was not solved, when that is asked for.
  private stopAtMarks(before: number): void {
    if (!this.stopping || this.source.live || !this.clock.playing) return;
    const mark = this.marks.find((m) => m.kind !== 'impact' && m.time > before + 1e-9 && m.time <= this.clock.time() + 1e-9);
    if (!mark) return;
    this.clock.seek(mark.time);
    this.clock.pause();
    toast(mark.kind === 'unsolved' ? 'Paused: the step was not solved to tolerance.' : 'Paused: the step has regularized rows.');
  }

  private tick(now: number): void {
    const seconds = Math.min((now - this.lastTick) / 1000, 0.1);
    if (this.clock.playing) this.judgeSpeed(now - this.lastTick);
    this.lastTick = now;
    const before = this.clock.time();
    this.clock.advance(seconds);
    this.stage.controls.update();
    this.stopAtMarks(before);
    if (this.clock.time() !== before) this.dirty = true;
    this.hover();
    if (this.dirty) {
      const start = performance.now();
      this.dirty = false;
      this.draw();
      this.updateTransport();
      this.markCharts();
      this.scriptMs += 0.1 * (performance.now() - start - this.scriptMs);
    }
    if (now - this.lastPanel > 120) {
      this.lastPanel = now;
      this.updatePlay();
      this.updateStatus();
      if (!this.right.hidden) {
        this.fillInspector();
        this.updateJoints();
      }
    }
    if (this.source.live && now - this.lastChart > 250) {
      this.lastChart = now;
      this.drawCharts();
    }
    requestAnimationFrame((t) => this.tick(t));
  }

  async start(): Promise<void> {
    this.resize();
    if (!this.source.live) this.marks = findMarks(this.source);
    this.resetView();
    this.drawTrack();
    const params = new URLSearchParams(location.hash.slice(1));
    if (params.get('theme') === 'dark' || params.get('theme') === 'light') this.setTheme(params.get('theme') as 'light' | 'dark');
    if (params.has('bare')) document.body.classList.add('bare');
    const fixed = this.applyLink(location.hash);
    if (fixed && !/[#&](eye|camera)=/.test(location.hash)) {
      this.place(); // what is seen then, not at the start
      this.resetView();
    }
    if (params.has('render')) {
      await this.renderFrames();
      return;
    }
    if (this.source.live) this.connect();
    else if (!fixed && this.source.count() > 1) this.clock.play();
    this.fillInspector();
    this.lastTick = performance.now();
    requestAnimationFrame((t) => this.tick(t));
  }

  // Pictures for `rigor render`: the server says which, and takes them.
  private async renderFrames(): Promise<void> {
    const wish = (await (await fetch('render')).json()) as { times: number[]; width: number; height: number };
    this.stage.renderer.setPixelRatio(1);
    this.stage.element.style.cssText = `width:${wish.width}px;height:${wish.height}px`;
    this.stage.resize(wish.width, wish.height);
    this.clock.seek(wish.times[0]);
    this.place();
    if (!/[#&](eye|camera)=/.test(location.hash)) this.resetView();
    for (let i = 0; i < wish.times.length; ++i) {
      this.clock.seek(wish.times[i]);
      this.draw();
      const blob = await new Promise<Blob | null>((done) => this.picture().toBlob(done));
      await fetch(`picture?index=${i}`, { method: 'POST', headers: { 'content-type': 'image/png' }, body: blob });
    }
  }

  // What tests ask.
  state() {
    return {
      time: this.clock.time(), index: this.clock.index(), playing: this.clock.playing, arrows: this.overlays.arrows(), lines: this.overlays.lines(), segments: this.overlays.segments(), labels: this.labels.count, ghost: this.ghost !== null, camera: this.attached,
      shapes: this.shapes.count(),
      contacts: this.frame.contacts.count, scriptMs: this.scriptMs, frames: this.frames, count: this.source.count(), marks: this.marks.length, live: this.source.live,
      stick: this.frame.contacts.state.reduce((n, s) => n + (s === STICK ? 1 : 0), 0), slip: this.frame.contacts.state.reduce((n, s) => n + (s === SLIP ? 1 : 0), 0),
      open: this.frame.contacts.state.reduce((n, s) => n + (s === OPEN ? 1 : 0), 0), position: (body: number) => Array.from(this.mixed.subarray(7 * body, 7 * body + 3)),
    };
  }
}

