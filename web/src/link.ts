// The part of the address after '#': time and camera, so that a link shows what its sender saw.

export interface Link {
  time?: number;
  eye?: number[];
  target?: number[];
  body?: string;
  camera?: string; // of the model
  show?: string[];
  play?: boolean;
}

function numbers(text: string | null, count: number): number[] | undefined {
  if (text === null) return undefined;
  const parts = text.split(',').map(Number);
  return parts.length === count && parts.every(isFinite) ? parts : undefined;
}

export function writeLink(link: Link): string {
  const round = (values: number[]) => values.map((x) => Number(x.toFixed(3))).join(',');
  const p = new URLSearchParams();
  if (link.time !== undefined) p.set('t', String(Number(link.time.toFixed(4))));
  if (link.camera) p.set('camera', link.camera);
  if (link.eye) p.set('eye', round(link.eye));
  if (link.target) p.set('at', round(link.target));
  if (link.body) p.set('body', link.body);
  if (link.show) p.set('show', link.show.join(' '));
  return '#' + p.toString().replace(/%2C/g, ',');
}

export function readLink(hash: string): Link {
  const p = new URLSearchParams(hash.replace(/^#/, ''));
  const time = Number(p.get('t') ?? NaN);
  return {
    time: isFinite(time) ? time : undefined,
    eye: numbers(p.get('eye'), 3),
    target: numbers(p.get('at'), 3),
    body: p.get('body') ?? undefined,
    camera: p.get('camera') ?? undefined,
    show: p.get('show')?.split(' ').filter(Boolean),
    play: p.has('play') ? p.get('play') !== '0' : undefined,
  };
}
