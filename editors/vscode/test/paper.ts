/** A page without a browser: elements that keep what they are given. Import before what needs one. */
import { ENGLISH } from "../src/texts";

export class Paper {
  readonly children: Paper[] = [];
  readonly attributes: Record<string, string> = {};
  readonly dataset: Record<string, string> = {};
  parent: Paper | undefined;
  innerHTML = "";

  get childElementCount(): number {
    return this.children.length;
  }

  setAttribute(name: string, value: string): void {
    this.attributes[name] = value;
  }

  append(...added: Paper[]): void {
    for (const one of added) {
      one.parent = this;
      this.children.push(one);
    }
  }

  appendChild<T extends Paper>(added: T): T {
    this.append(added);
    return added;
  }

  replaceChildren(...added: Paper[]): void {
    this.children.length = 0;
    this.append(...added);
  }

  remove(): void {
    const at = this.parent?.children.indexOf(this) ?? -1;
    if (at >= 0) {
      this.parent?.children.splice(at, 1);
    }
  }

  querySelector(): this {
    return this;
  }

  querySelectorAll(): Paper[] {
    return [];
  }

  appendData(text: string): void {
    this.innerHTML += text;
  }
}

/** What was written, in order. */
export function written(paper: Paper): string {
  return paper.innerHTML + paper.children.map(written).join("");
}

const body = new Paper();
body.dataset["kova"] = JSON.stringify({ texts: ENGLISH });
Object.assign(globalThis, {
  acquireVsCodeApi: () => ({ postMessage: () => undefined }),
  document: { body, createElement: () => new Paper(), createTextNode: () => new Paper() },
});
