// Text over the picture: names and values at points of the scene, in a canvas of its own.
import * as THREE from 'three';

export interface Label {
  point: [number, number, number];
  text: string;
  strong?: boolean;
}

interface Box {
  x: number;
  y: number;
  width: number;
}

const HEIGHT = 15; // of a line [px]

// Whether a label overlaps one that is drawn already.
export function isCovered(box: Box, drawn: Box[]): boolean {
  return drawn.some((b) => Math.abs(b.y - box.y) < HEIGHT && box.x < b.x + b.width && b.x < box.x + box.width);
}

export class Labels {
  readonly canvas = document.createElement('canvas');
  count = 0;

  constructor() {
    this.canvas.className = 'labels';
  }

  resize(width: number, height: number, ratio: number): void {
    this.canvas.width = Math.max(1, Math.floor(width * ratio));
    this.canvas.height = Math.max(1, Math.floor(height * ratio));
  }

  // Nearest first; those that would cover another are left out.
  draw(labels: Label[], camera: THREE.PerspectiveCamera): void {
    const g = this.canvas.getContext('2d')!;
    const ratio = this.canvas.width / Math.max(1, this.canvas.clientWidth || this.canvas.width);
    const [width, height] = [this.canvas.width / ratio, this.canvas.height / ratio];
    const style = getComputedStyle(document.documentElement);
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, width, height);
    this.count = 0;
    if (labels.length === 0) return;
    g.font = '11px system-ui, sans-serif';
    g.textBaseline = 'middle';
    g.lineWidth = 3;
    g.lineJoin = 'round';
    g.strokeStyle = style.getPropertyValue('--panel-2').trim();
    const v = new THREE.Vector3();
    const seen = labels.map((label) => ({ label, p: v.fromArray(label.point).project(camera).toArray() }))
      .filter(({ p }) => p[2] > -1 && p[2] < 1 && Math.abs(p[0]) < 1 && Math.abs(p[1]) < 1)
      .sort((a, b) => Number(b.label.strong ?? false) - Number(a.label.strong ?? false) || a.p[2] - b.p[2]).slice(0, 400);
    const drawn: Box[] = [];
    for (const { label, p } of seen) {
      const box = { x: 0.5 * (p[0] + 1) * width + 5, y: 0.5 * (1 - p[1]) * height - 8, width: g.measureText(label.text).width };
      if (isCovered(box, drawn)) continue;
      drawn.push(box);
      g.fillStyle = style.getPropertyValue(label.strong ? '--accent' : '--ink').trim();
      g.strokeText(label.text, box.x, box.y);
      g.fillText(label.text, box.x, box.y);
    }
    this.count = drawn.length;
  }
}
