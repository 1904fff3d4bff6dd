//! A real browser, driven over the WebDriver protocol on the loopback interface.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use base64::Engine as _;
use serde_json::{Value, json};

/// A running chromedriver with one headless session; both end when it is dropped.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts Debian's chromium with an empty profile.
    ///
    /// # Panics
    /// With what to do, if chromium or chromedriver is missing.
    pub(crate) fn start() -> Self {
        let profile = tempfile::tempdir().expect("a temporary folder");
        let mut driver = Command::new("chromedriver")
            .args(["--port=0", "--log-level=SEVERE"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| {
                panic!("chromedriver could not be started ({error}); run `cargo xtask test`, which installs chromium")
            });
        let mut lines = BufReader::new(driver.stdout.take().expect("a piped stdout")).lines();
        let port = loop {
            let line = lines.next().expect("chromedriver says its port").expect("text");
            if let Some((_, rest)) = line.split_once("successfully on port ") {
                break rest.trim_end_matches('.').parse().expect("a port");
            }
        };
        // Whatever else it prints must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        let mut browser = Self { driver, port, session: String::new(), _profile: profile };
        let data = format!("--user-data-dir={}", browser._profile.path().display());
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--window-size=1280,900",
            &data,
        ];
        let answer = browser.request(
            "POST",
            "/session",
            &json!({"capabilities": {"alwaysMatch": {
                "browserName": "chrome",
                "goog:chromeOptions": {"args": arguments},
                "goog:loggingPrefs": {"browser": "ALL"},
            }}}),
        );
        browser.session = answer["sessionId"]
            .as_str()
            .unwrap_or_else(|| {
                panic!("chromium could not be started; run `cargo xtask test`, which installs it: {answer}")
            })
            .to_owned();
        browser
    }

    /// Opens a file and waits until it has loaded.
    pub(crate) fn open(&self, file: &Path) {
        self.command("POST", "/url", &json!({"url": format!("file://{}", file.display())}));
    }

    /// Runs the body of a function in the page and returns what it returns.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.command("POST", "/execute/sync", &json!({"script": script, "args": []}))
    }

    /// Types into the element of a selector as a user would.
    pub(crate) fn type_into(&self, selector: &str, text: &str) {
        let element = self.element(selector);
        self.command("POST", &format!("/element/{element}/value"), &json!({"text": text}));
    }

    /// Clicks on the element of a selector as a user would.
    pub(crate) fn click(&self, selector: &str) {
        let element = self.element(selector);
        self.command("POST", &format!("/element/{element}/click"), &json!({}));
    }

    /// Everything that the page logged since the last call.
    pub(crate) fn console(&self) -> Vec<String> {
        let entries = self.command("POST", "/se/log", &json!({"type": "browser"}));
        entries.as_array().expect("a list").iter().map(Value::to_string).collect()
    }

    /// Sends a command of the browser's debugging protocol.
    pub(crate) fn debugger(&self, command: &str, parameters: &Value) -> Value {
        self.command("POST", "/goog/cdp/execute", &json!({"cmd": command, "params": parameters}))
    }

    /// Shows the page at a width, in a colour scheme (`light`, `dark`) and for a medium (`screen`, `print`).
    pub(crate) fn show(&self, width: u32, scheme: &str, medium: &str) {
        self.debugger(
            "Emulation.setDeviceMetricsOverride",
            &json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}),
        );
        self.debugger(
            "Emulation.setEmulatedMedia",
            &json!({"media": medium, "features": [{"name": "prefers-color-scheme", "value": scheme}]}),
        );
    }

    /// Saves the whole page as a picture.
    pub(crate) fn screenshot(&self, file: &Path) {
        let answer =
            self.debugger("Page.captureScreenshot", &json!({"format": "png", "captureBeyondViewport": true}));
        save(&answer, file);
    }

    /// Saves the page as it prints.
    pub(crate) fn print(&self, file: &Path) {
        save(&self.debugger("Page.printToPDF", &json!({"printBackground": false})), file);
    }

    fn element(&self, selector: &str) -> String {
        let found = self.command("POST", "/element", &json!({"using": "css selector", "value": selector}));
        let id = found.as_object().and_then(|object| object.values().next()).and_then(Value::as_str);
        id.unwrap_or_else(|| panic!("no element {selector}: {found}")).to_owned()
    }

    fn command(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.request(method, &format!("/session/{}{path}", self.session), body);
        assert!(answer.get("error").is_none(), "{path} failed: {answer}");
        answer
    }

    fn request(&self, method: &str, path: &str, body: &Value) -> Value {
        self.try_request(method, path, body).expect("chromedriver answers")
    }

    /// One request per connection; the answer's `value`.
    fn try_request(&self, method: &str, path: &str, body: &Value) -> io::Result<Value> {
        let body = body.to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.port,
            body.len()
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.as_bytes())?;
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let line = line.trim_end().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().map_err(io::Error::other)?;
            }
            if line.is_empty() {
                break;
            }
        }
        let mut text = vec![0; length];
        reader.read_exact(&mut text)?;
        let mut answer: Value = serde_json::from_slice(&text)?;
        Ok(answer["value"].take())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Also after a failed assertion: ending the session is what ends chromium, and nothing here may panic again.
        if !self.session.is_empty() {
            let _ = self.try_request("DELETE", &format!("/session/{}", self.session), &json!({}));
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

fn save(answer: &Value, file: &Path) {
    let data = answer["data"].as_str().expect("data");
    let bytes = base64::engine::general_purpose::STANDARD.decode(data).expect("base64");
    std::fs::write(file, bytes).expect("the file is written");
}
