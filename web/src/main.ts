// Start: find the data, in the page or from the server, and show it.
import { App } from './app';
import { decode, fromBase64, gunzip } from './data';
import { el } from './dom';

function message(title: string, text: string): HTMLElement {
  const m = el('div', { className: 'message', role: 'status' }, el('div', {}, el('h1', {}, title), el('p', {}, text)));
  document.body.append(m);
  return m;
}

// Bytes that the page carries, or that its server has.
async function load(id: string, file: string): Promise<ArrayBuffer> {
  const inside = document.getElementById(id);
  if (inside) return gunzip(fromBase64(inside.textContent!.trim()));
  const answer = await fetch(file);
  if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
  return answer.arrayBuffer();
}

const dark = matchMedia('(prefers-color-scheme: dark)').matches;
document.documentElement.dataset.theme = dark ? 'dark' : 'light';
const loading = message('Loading', 'The scene is on its way.');
try {
  const source = decode(await load('rigor-data', 'scene.bin'));
  document.title = `${source.title} · rigor`;
  const app = new App(source, document.getElementById('app')!);
  loading.remove();
  (window as unknown as Record<string, unknown>).rigor = app;
  if (!source.live && source.hasGhost) app.setGhost(decode(await load('rigor-ghost', 'ghost.bin')));
  await app.start();
} catch (fault) {
  loading.remove();
  const text = fault instanceof Error ? fault.message : String(fault);
  const webgl = /webgl/i.test(text);
  message('Nothing can be shown', webgl ? 'This browser offers no WebGL2, which the picture needs.' : text);
  console.error(fault);
}
