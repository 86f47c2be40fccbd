// A second recording in the same scene, see-through, at the same time.
import * as THREE from 'three';
import { Clock } from './clock';
import type { Source } from './data';
import { blend, Kinematics, makePoses, type Poses } from './kinematics';
import { Shapes } from './shapes';

export class Ghost {
  readonly root: THREE.Group;
  readonly poses: Poses;
  private next: Poses;
  private shapes: Shapes;
  private kinematics: Kinematics;
  private clock: Clock;

  constructor(readonly source: Source, color: THREE.Color) {
    this.kinematics = new Kinematics(source.model);
    this.poses = makePoses(source.model);
    this.next = makePoses(source.model);
    this.clock = new Clock(source);
    this.shapes = new Shapes(source.model, color);
    this.shapes.build(false);
    this.shapes.setOpacity(0.35);
    this.root = this.shapes.root;
  }

  place(time: number): void {
    if (this.source.count() === 0) return;
    this.clock.seek(time);
    const i = this.clock.index();
    const share = this.clock.share();
    this.kinematics.forward(this.source.frame(i), this.poses);
    if (share > 0) {
      this.kinematics.forward(this.source.frame(i + 1), this.next);
      blend(this.poses, this.next, share, this.poses);
    }
    this.shapes.place(this.poses);
  }

  dispose(): void {
    this.shapes.dispose();
  }
}
