// Browsers start no workers for pages from file://. There the search runs in a hidden frame, which loads the worker's script
// and takes its messages. Served by HTTP, pages use a real worker and this does nothing.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      const base = new URL(url, location.href);
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.ready = new Promise((resolve) => {
        document.body.appendChild(this.frame);
        const inside = this.frame.contentWindow;
        const load = (source) =>
          new Promise((done) => {
            const script = inside.document.createElement("script");
            script.src = new URL(source, base).href;
            script.onload = done;
            inside.document.body.appendChild(script);
          });
        inside.postMessage = (data) => this.receive(data);
        inside.importScripts = (...sources) => Promise.all(sources.map(load));
        load(base.href).then(() => resolve(inside));
      });
    }

    receive(data) {
      const event = new MessageEvent("message", { data });
      if (this.onmessage) this.onmessage(event);
      this.dispatchEvent(event);
    }

    postMessage(data) {
      this.ready.then((inside) => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
