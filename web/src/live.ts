// A running simulation: frames come as server-sent events, commands go as POST.
import { decode, decodeLive, fromBase64, type Live } from './data';

export type Command = { do: string; [key: string]: unknown };

export class Connection {
  private events: EventSource | null = null;
  private model = 0;
  onframe: () => void = () => {};
  onmodel: () => void = () => {};
  onstate: (connected: boolean) => void = () => {};

  constructor(private source: Live) {}

  open(): void {
    this.events = new EventSource('events');
    this.events.onopen = () => this.onstate(true);
    this.events.onerror = () => this.onstate(false);
    this.events.onmessage = (event) => void this.take(event.data as string);
  }

  close(): void {
    this.events?.close();
  }

  private async take(text: string): Promise<void> {
    const { frame, model, realTime, paused, stopped, timeStep } = decodeLive(fromBase64(text), this.source.model);
    if (model !== this.model) {
      // Bodies came or went: fetch the new model before showing its frames.
      this.model = model;
      const fresh = decode(await (await fetch('scene.bin')).arrayBuffer());
      this.source.model = fresh.model;
      this.source.clear();
      this.onmodel();
    }
    if (frame.q.length !== this.source.model.nq) return;
    this.source.realTime = realTime;
    this.source.paused = paused;
    this.source.stopped = stopped;
    this.source.timeStep = timeStep;
    this.source.add(frame);
    this.onframe();
  }

  async send(command: Command): Promise<string | null> {
    try {
      const answer = await fetch('command', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(command) });
      return answer.ok ? null : await answer.text();
    } catch {
      return 'The simulation does not answer.';
    }
  }
}
