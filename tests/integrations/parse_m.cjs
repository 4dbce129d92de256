// Parses the files that are named and prints each file's text literals, unescaped. Fails where one is not M.
const fs = require("fs");
const { DefaultSettings, Language, TaskUtils } = require("@microsoft/powerquery-parser");

async function main() {
    const found = {};
    for (const path of process.argv.slice(2)) {
        const task = await TaskUtils.tryLexParse(DefaultSettings, fs.readFileSync(path, "utf8"));
        if (task.error) {
            throw new Error(`${path}: ${task.error.message}`);
        }
        const texts = task.lexerSnapshot.tokens.filter((token) => token.kind === Language.Token.TokenKind.TextLiteral);
        found[path] = texts.map((token) => Language.TextUtils.unescape(token.data.slice(1, -1)));
    }
    console.log(JSON.stringify(found));
}

main().catch((error) => {
    console.error(error);
    process.exit(1);
});
