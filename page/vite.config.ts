import { defineConfig } from "vite";

// One script and one sheet of styles, which `gradsan/show/html.py` puts into a page.
export default defineConfig({
  build: {
    outDir: "../src/gradsan/show/bundle",
    emptyOutDir: true,
    target: "es2022",
    cssCodeSplit: false,
    lib: { entry: "src/main.ts", formats: ["iife"], name: "gradsan", fileName: () => "page.js", cssFileName: "page" },
  },
});
