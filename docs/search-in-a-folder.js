// A browser starts no worker from a file. There the search runs in a hidden frame, so that the site needs no server.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(address) {
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.body.append(this.frame)
      this.inside = this.frame.contentWindow
      this.inside.document.open()
      this.inside.postMessage = data => this.onmessage?.({ data })
      this.ready = new Promise(resolve => { this.frame.onload = resolve })
      this.inside.document.write(`<body><script src="${address}"></script>`)
      this.inside.document.close()
    }
    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data })))
    }
    terminate() {
      this.frame.remove()
    }
  }
}
