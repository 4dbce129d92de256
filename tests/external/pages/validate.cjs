// Checks pages with html-validate. The folder of its package is the argument; pages come on standard input as a JSON object of texts by
// name, findings leave as a JSON list of sentences. Its command line needs a newer Node than Debian's; its library does not.
const { createRequire } = require("node:module");
const { readFileSync } = require("node:fs");
const { join } = require("node:path");

const load = createRequire(join(process.argv[2], "package.json"));
const { HtmlValidate } = load("html-validate");

const validator = new HtmlValidate({
  root: true,
  extends: ["html-validate:standard", "html-validate:a11y"],
  rules: {
    // A region that scrolls is reached by the keyboard; axe-core asks for it.
    "prefer-native-element": "off",
  },
});

async function main() {
  const pages = JSON.parse(readFileSync(0, "utf8"));
  const findings = [];
  for (const [name, text] of Object.entries(pages)) {
    const report = await validator.validateString(text, name);
    for (const result of report.results) {
      for (const message of result.messages) {
        findings.push(`${name}:${message.line}: ${message.ruleId}: ${message.message}`);
      }
    }
  }
  process.stdout.write(JSON.stringify(findings));
}

main();
