// A few helpers to make elements, and the icons.

type Child = Node | string | null | undefined;

export function el<K extends keyof HTMLElementTagNameMap>(tag: K, props: Record<string, unknown> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (key.startsWith('on') && typeof value === 'function') e.addEventListener(key.slice(2), value as EventListener);
    else if (key in e) (e as unknown as Record<string, unknown>)[key] = value;
    else e.setAttribute(key, String(value));
  }
  for (const child of children) if (child !== null && child !== undefined) e.append(child);
  return e;
}

const ICONS: Record<string, string> = {
  play: '<path d="M5 3.5v9l7.5-4.5z"/>',
  pause: '<path d="M5.5 3.5v9M10.5 3.5v9"/>',
  back: '<path d="M11.5 3.5 6 8l5.5 4.5zM4.5 3.5v9"/>',
  next: '<path d="M4.5 3.5 10 8l-5.5 4.5zM11.5 3.5v9"/>',
  tree: '<path d="M3 3.5h10M5.5 8H13M5.5 12.5H13M3 3.5v9"/>',
  panel: '<rect x="2.5" y="3" width="11" height="10" rx="1.5"/><path d="M9.5 3v10"/>',
  chart: '<path d="M2.5 13.5h11M3.5 10.5l3-4 2.5 2.5 4-5.5"/>',
  camera: '<rect x="2" y="4.5" width="12" height="8.5" rx="1.5"/><circle cx="8" cy="8.8" r="2.3"/><path d="M5.5 4.5 6.5 3h3l1 1.5"/>',
  eye: '<path d="M1.5 8S4 3.8 8 3.8 14.5 8 14.5 8 12 12.2 8 12.2 1.5 8 1.5 8z"/><circle cx="8" cy="8" r="1.9"/>',
  film: '<rect x="2" y="4" width="8.5" height="8" rx="1.5"/><path d="m10.5 7 3.5-2v6l-3.5-2"/>',
  link: '<path d="M6.5 9.5a2.8 2.8 0 0 0 4 0l2-2a2.8 2.8 0 0 0-4-4l-1 1M9.5 6.5a2.8 2.8 0 0 0-4 0l-2 2a2.8 2.8 0 0 0 4 4l1-1"/>',
  theme: '<path d="M8 2.5a5.5 5.5 0 1 0 5.5 5.5A4.3 4.3 0 0 1 8 2.5z"/>',
  help: '<circle cx="8" cy="8" r="5.8"/><path d="M6.3 6.4a1.8 1.8 0 1 1 2.4 1.8c-.5.2-.7.5-.7 1.1M8 11.3v.1"/>',
  follow: '<circle cx="8" cy="8" r="2.2"/><path d="M8 1.8v2.6M8 11.6v2.6M1.8 8h2.6M11.6 8h2.6"/>',
  close: '<path d="m4.5 4.5 7 7M11.5 4.5l-7 7"/>',
  drag: '<path d="M8 2v12M2 8h12M8 2 6.3 3.8M8 2l1.7 1.8M8 14l-1.7-1.8M8 14l1.7-1.8M2 8l1.8-1.7M2 8l1.8 1.7M14 8l-1.8-1.7M14 8l-1.8 1.7"/>',
  stop: '<path d="M5.5 2.5h5l3 3v5l-3 3h-5l-3-3v-5zM8 5v3.5M8 11v.1"/>',
  save: '<path d="M8 2.5v7M5 7l3 3 3-3M3 13h10"/>',
  ball: '<circle cx="8" cy="8" r="5"/>',
  box: '<path d="M8 2.2 13.2 5v6L8 13.8 2.8 11V5zM2.8 5 8 7.8 13.2 5M8 7.8v6"/>',
};

export function icon(name: string): SVGElement {
  const holder = document.createElement('div');
  holder.innerHTML = `<svg viewBox="0 0 16 16" aria-hidden="true">${ICONS[name]}</svg>`;
  return holder.firstElementChild as SVGElement;
}

export function iconButton(name: string, title: string, onclick: (event: MouseEvent) => void): HTMLButtonElement {
  const b = el('button', { className: 'icon', title, onclick, type: 'button' }, icon(name));
  b.setAttribute('aria-label', title);
  return b;
}

export function setIcon(button: HTMLElement, name: string): void {
  button.replaceChildren(icon(name));
}

export function section(title: string, body: HTMLElement, closed = false): HTMLElement {
  body.classList.add('body');
  const s = el('section', { className: closed ? 'closed' : '' });
  s.append(el('h2', { onclick: () => s.classList.toggle('closed') }, title), body);
  return s;
}

export function facts(rows: [string, string][]): HTMLElement {
  const list = el('dl', { className: 'facts' });
  for (const [name, value] of rows) list.append(el('dt', {}, name), el('dd', { title: value }, value));
  return list;
}

export function download(name: string, blob: Blob): void {
  const a = el('a', { href: URL.createObjectURL(blob), download: name });
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10000);
}

let toastTimer = 0;
export function toast(text: string): void {
  document.querySelector('.toast')?.remove();
  clearTimeout(toastTimer);
  document.body.append(el('div', { className: 'toast', role: 'status' }, text));
  toastTimer = window.setTimeout(() => document.querySelector('.toast')?.remove(), 2400);
}
