import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist/", "node_modules/", "src/protocol.gen.ts"] },
  ...tseslint.configs.strictTypeChecked,
  {
    files: ["src/**/*.ts", "test/**/*.ts"],
    languageOptions: {
      parserOptions: { project: ["./tsconfig.json", "./src/webview/tsconfig.json", "./test/tsconfig.json"], tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      // The engine may be newer than these types: what they rule out can still arrive.
      "@typescript-eslint/no-unnecessary-condition": "off",
      "@typescript-eslint/no-deprecated": "error",
      // Code points are what is meant wherever text is spread here.
      "@typescript-eslint/no-misused-spread": "off",
      eqeqeq: "error",
    },
  },
  {
    files: ["test/**/*.ts"],
    // node:test waits for its tests by itself.
    rules: { "@typescript-eslint/no-floating-promises": "off" },
  },
  { files: ["**/*.mjs"], ...tseslint.configs.disableTypeChecked },
);
