// What is shown when: play, pause, speed, scrub. Knows times, not frames' contents.

export interface Timeline {
  count(): number;
  time(index: number): number;
}

export class Clock {
  playing = false;
  speed = 1;
  loop = true;
  following = false; // stay at the newest frame of a running simulation
  private now = 0;

  constructor(private timeline: Timeline) {
    if (timeline.count() > 0) this.now = timeline.time(0);
  }

  begin(): number {
    return this.timeline.count() > 0 ? this.timeline.time(0) : 0;
  }

  end(): number {
    const n = this.timeline.count();
    return n > 0 ? this.timeline.time(n - 1) : 0;
  }

  time(): number {
    return this.following ? this.end() : this.now;
  }

  seek(time: number): void {
    this.now = Math.min(Math.max(time, this.begin()), this.end());
    this.following = false;
  }

  play(): void {
    if (this.now >= this.end() - 1e-9) this.now = this.begin();
    this.playing = true;
  }

  pause(): void {
    this.now = this.time();
    this.following = false;
    this.playing = false;
  }

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }

  // To a neighbouring frame; stops.
  step(direction: number): void {
    const n = this.timeline.count();
    this.pause();
    if (n === 0) return;
    const at = this.index();
    const next = direction < 0 && this.timeline.time(at) < this.now - 1e-9 ? at : at + direction;
    this.now = this.timeline.time(Math.min(Math.max(next, 0), n - 1));
  }

  // Time goes on by so many real seconds.
  advance(seconds: number): void {
    if (!this.playing || this.following) return;
    this.now += this.speed * seconds;
    if (this.now > this.end()) {
      if (this.loop && this.end() > this.begin()) {
        this.now = this.begin();
      } else {
        this.now = this.end();
        this.playing = false;
      }
    }
  }

  // The last frame that is not later than now.
  index(): number {
    let low = 0;
    let high = this.timeline.count() - 1;
    if (this.following) return Math.max(high, 0);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.timeline.time(middle) <= this.now + 1e-9) low = middle;
      else high = middle - 1;
    }
    return Math.max(low, 0);
  }

  // How far now is between that frame and the next, 0 to 1.
  share(): number {
    const i = this.index();
    if (this.following || i + 1 >= this.timeline.count()) return 0;
    const a = this.timeline.time(i);
    const b = this.timeline.time(i + 1);
    return b > a ? Math.min(Math.max((this.now - a) / (b - a), 0), 1) : 0;
  }
}

export function formatTime(seconds: number): string {
  if (!isFinite(seconds)) return '–';
  if (seconds < 60) return `${seconds.toFixed(3)} s`;
  const minutes = Math.floor(seconds / 60);
  return `${minutes}:${(seconds - 60 * minutes).toFixed(2).padStart(5, '0')}`;
}
