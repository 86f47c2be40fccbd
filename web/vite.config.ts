// One file comes out: index.html with its script and style inside, so that it can be embedded in the
// program, exported and mailed.
import { defineConfig, type Plugin } from 'vite';

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
      page.source = html;
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
