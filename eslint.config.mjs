import js from '@eslint/js';
import jest from 'eslint-plugin-jest';
import importSort from 'eslint-plugin-simple-import-sort';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      'packages/cli/bundle/**',
      '**/generated/**',
      '.local/**',
      '**/node_modules/**',
      '**/*.wasm',
      // AssemblyScript: its own compiler checks it; TypeScript does not know its types.
      'packages/kernels/assembly/**',
      // Next.js checks it when it is built (nextjs-example.long.test.ts); its packages are not installed here.
      'packages/client/examples/**',
    ],
  },
  js.configs.recommended,
  {
    plugins: { 'import-sort': importSort },
    rules: {
      // From far to near: Node, packages, other folders, this folder.
      'import-sort/imports': ['error', { groups: [['^\\u0000', '^node:', '^@?\\w', '^\\.\\.', '^\\.']] }],
    },
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    // One program of all sources: one for each workspace would take more memory than Node.js has by default.
    languageOptions: {
      parserOptions: { project: './tsconfig.lint.json', tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      // An interface may require a promise even where nothing is awaited.
      '@typescript-eslint/require-await': 'off',
      'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-console': 'error',
      'no-restricted-syntax': [
        'error',
        {
          selector: ['any', 'timeout']
            .map((name) => `CallExpression[callee.object.name='AbortSignal'][callee.property.name='${name}']`)
            .join(' '),
          message: 'Garbage collection may remove this timeout (nodejs/node#57736). Use withController.',
        },
      ],
    },
  },
  // A browser's types would hide in all other code that Node.js does not have them.
  {
    files: ['packages/studio/**/*.ts', 'packages/studio/**/*.tsx'],
    languageOptions: { parserOptions: { project: './packages/studio/tsconfig.json' } },
  },
  {
    files: ['packages/site/browser/*.ts'],
    languageOptions: { parserOptions: { project: './packages/site/browser/tsconfig.json' } },
  },
  // Command-line programs: printing is their purpose.
  {
    files: ['scripts/**/*.ts', 'scripts/**/*.mjs', 'services/api/public/samples/*.ts'],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['**/*.test.ts'],
    extends: [jest.configs['flat/recommended']],
    rules: {
      'jest/expect-expect': ['error', { assertFunctionNames: ['expect*', 'fc.assert'] }],
      'jest/no-standalone-expect': [
        'error',
        { additionalTestBlockFunctions: ['onLinux', 'onLinux.each', 'whereOffered', 'where'] },
      ],
      // The tests of one subject stay in one file with their fixture.
      'max-lines': 'off',
    },
  },
  {
    files: ['**/*.mjs', '**/*.cjs'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        module: 'writable',
        require: 'readonly',
        __dirname: 'readonly',
        URL: 'readonly',
        Buffer: 'readonly',
        performance: 'readonly',
        fetch: 'readonly',
      },
    },
  },
);
