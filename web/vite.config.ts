// One file comes out: index.html with its script and style inside, so that it can be embedded in the
// program, exported and mailed.
import { readFileSync } from 'node:fs';
import { defineConfig, type Plugin } from 'vite';

// What a page may do, wherever it is opened: what it carries, and its own server, nothing else. The
// server says the same in a header.
const POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; "
  + "img-src data: blob:; media-src blob:; base-uri 'none'; form-action 'none'";

// Whose code goes with every page, and on which terms; a comment holds no "--".
function notices(): string {
  const three = readFileSync('node_modules/three/LICENSE', 'utf8').trim().replace(/--+/g, '-');
  return `<!--\nThis page was made by rigor (Apache License 2.0) and holds three.js:\n\n${three}\n-->`;
}

function inline(): Plugin {
  return {
    name: 'inline',
    enforce: 'post',
    generateBundle(_, bundle) {
      const page = bundle['index.html'];
      if (page?.type !== 'asset') return;
      let html = String(page.source);
      for (const [name, file] of Object.entries(bundle)) {
        if (file.type === 'chunk') {
          const code = file.code.replace(/<\/script/g, '<\\/script');
          html = html.replace(/<script[^>]*src="[^"]*"[^>]*><\/script>/, '');
          html = html.replace('</body>', () => `<script type="module">${code}</script>\n</body>`);
          delete bundle[name];
        } else if (name.endsWith('.css')) {
          html = html.replace(/<link[^>]*rel="stylesheet"[^>]*>/, () => `<style>${file.source}</style>`);
          delete bundle[name];
        }
      }
      html = html.replace('<meta charset="utf-8">',
        () => `<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="${POLICY}">`);
      page.source = html.replace('</html>', () => `${notices()}\n</html>`);
    },
  };
}

export default defineConfig({
  base: './',
  plugins: [inline()],
  build: {
    outDir: process.env.RIGOR_WEB_OUT ?? '../build/web',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 1 << 20,
    chunkSizeWarningLimit: 2000,
  },
  test: { include: ['test/**/*.test.ts'] },
} as Parameters<typeof defineConfig>[0]);
