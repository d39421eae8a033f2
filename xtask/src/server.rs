//! A static file server for dist/, on 127.0.0.1 only: right types, nothing cached, nothing outside.
use anyhow::{Context, Result, bail};
use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{
        ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue,
        X_CONTENT_TYPE_OPTIONS,
    },
    server::conn::http1,
    service::service_fn,
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use std::{
    convert::Infallible,
    fs,
    io::ErrorKind,
    net::TcpListener,
    path::{Path, PathBuf},
    sync::{Arc, RwLock},
    thread::{self, JoinHandle},
    time::Duration,
};
use tokio::sync::oneshot;

/// The port to begin with when none is asked for.
const FIRST: u16 = 8080;
/// How many ports after it are tried.
const TRIES: u16 = 100;
/// How long those who are being answered may take when the server ends.
const FAREWELL: Duration = Duration::from_secs(1);
/// Before a connection is accepted again after none could be: too many are open.
const FULL: Duration = Duration::from_millis(50);

/// What the page may do, as its readers' servers may demand: its own files and WebAssembly, no inline code.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
                      connect-src 'self'; img-src 'self' data: blob:; font-src 'self'; \
                      worker-src 'self'; manifest-src 'self'; frame-src 'self'; base-uri 'none'; \
                      form-action 'none'";

/// A running server. Dropping it does not stop it; [`Running::stop`] does.
pub struct Running {
    end: oneshot::Sender<()>,
    thread: JoinHandle<()>,
    /// `http://127.0.0.1:PORT/`
    pub address: String,
    /// Held for writing while dist/ is swapped.
    pub gate: Arc<RwLock<()>>,
}

/// Serves `folder` on `port`, or without one on 8080 or the next free port.
pub fn start(folder: &Path, port: Option<u16>) -> Result<Running> {
    let listener = match port {
        Some(port) => listen(port).with_context(|| format!("port {port} cannot be used"))?,
        None => first_free()?,
    };
    let port = listener.local_addr()?.port();
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let listener = {
        let _inside = runtime.enter();
        tokio::net::TcpListener::from_std(listener)?
    };
    let gate = Arc::new(RwLock::new(()));
    let (end, ended) = oneshot::channel();
    let site = Arc::new(Site {
        folder: folder.to_path_buf(),
        gate: gate.clone(),
    });
    let thread = thread::spawn(move || runtime.block_on(serve(listener, site, ended)));
    Ok(Running {
        end,
        thread,
        address: format!("http://127.0.0.1:{port}/"),
        gate,
    })
}

impl Running {
    /// Answers what is being answered, then ends.
    pub fn stop(self) {
        // Either end may be gone already: then it has ended.
        let _ = self.end.send(());
        let _ = self.thread.join();
    }
}

/// What is served.
struct Site {
    folder: PathBuf,
    gate: Arc<RwLock<()>>,
}

/// Takes connections, as many as come, until it is told to end. One thread does: files are small and near.
async fn serve(
    listener: tokio::net::TcpListener,
    site: Arc<Site>,
    mut ended: oneshot::Receiver<()>,
) {
    let open = GracefulShutdown::new();
    loop {
        let stream = tokio::select! {
            _ = &mut ended => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(_) => {
                    tokio::time::sleep(FULL).await;
                    continue;
                }
            },
        };
        // Small answers are not held back to be sent with the next.
        let _ = stream.set_nodelay(true);
        let site = site.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let site = site.clone();
            async move { Ok::<_, Infallible>(answer(&request, &site)) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .title_case_headers(true)
            .serve_connection(TokioIo::new(stream), service);
        let connection = open.watch(connection);
        // Whether the reader's browser is still there to take the answer is not our concern.
        tokio::spawn(async move { drop(connection.await) });
    }
    let _ = tokio::time::timeout(FAREWELL, open.shutdown()).await;
}

fn listen(port: u16) -> std::io::Result<TcpListener> {
    TcpListener::bind(("127.0.0.1", port))
}

fn first_free() -> Result<TcpListener> {
    for port in FIRST..FIRST + TRIES {
        match listen(port) {
            Ok(listener) => return Ok(listener),
            Err(e) if matches!(e.kind(), ErrorKind::AddrInUse | ErrorKind::PermissionDenied) => {}
            Err(e) => return Err(e).with_context(|| format!("port {port} cannot be used")),
        }
    }
    bail!(
        "no free port from {FIRST} to {}; choose one with --port N",
        FIRST + TRIES - 1
    )
}

/// To HEAD the same without the body, which hyper leaves away.
fn answer<B>(request: &Request<B>, site: &Site) -> Response<Full<Bytes>> {
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        let text = "only GET and HEAD are answered here\n";
        let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, text);
        let headers = response.headers_mut();
        headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return response;
    }
    let found = {
        let _whole = site.gate.read();
        find(&site.folder, request.uri().path())
    };
    let Some((path, bytes)) = found else {
        return plain(StatusCode::NOT_FOUND, "not found\n");
    };
    let mut response = typed(content_type(&path), bytes.into());
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if path.extension().is_some_and(|e| e == "html") {
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    }
    response
}

fn plain(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let mut response = typed(
        "text/plain; charset=utf-8",
        Bytes::from_static(text.as_bytes()),
    );
    *response.status_mut() = status;
    response
}

fn typed(kind: &'static str, body: Bytes) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The file that `url` names below `folder`, and its bytes.
fn find(folder: &Path, url: &str) -> Option<(PathBuf, Vec<u8>)> {
    let path = decode(url.split(['?', '#']).next()?)?;
    let folder = folder.canonicalize().ok()?;
    let mut file = folder.clone();
    for part in path.split('/').filter(|p| !p.is_empty()) {
        // A file name and nothing else: no way up, no hidden file, no other separator or drive.
        if part.starts_with('.') || part.contains(['\\', ':', '\0']) {
            return None;
        }
        file.push(part);
    }
    if file.is_dir() {
        if !path.ends_with('/') {
            return None;
        }
        file.push("index.html");
    }
    // Links are followed, and must not lead outside either.
    let file = file
        .canonicalize()
        .ok()
        .filter(|f| f.starts_with(&folder))?;
    let bytes = fs::read(&file).ok()?;
    Some((file, bytes))
}

/// `%20` and the like; nothing when it is malformed or not UTF-8.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            let digits = std::str::from_utf8(&digits).ok()?;
            if !digits.bytes().all(|d| d.is_ascii_hexdigit()) {
                return None;
            }
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

/// The media type by the file's extension.
fn content_type(path: &Path) -> &'static str {
    match path
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default()
    {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "wasm" => "application/wasm",
        "json" | "map" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "webp" => "image/webp",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "webmanifest" => "application/manifest+json",
        "txt" | "md" | "ts" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        io::{Read, Write},
        net::TcpStream,
    };

    fn site(name: &str) -> PathBuf {
        let base = std::env::temp_dir().join(format!("xtask-site-{name}-{}", std::process::id()));
        let folder = base.join("dist");
        fs::create_dir_all(folder.join("locales")).unwrap();
        fs::write(base.join("secret.txt"), "secret").unwrap();
        fs::write(folder.join("index.html"), "page").unwrap();
        fs::write(folder.join("m_bg.wasm"), b"\0asm").unwrap();
        fs::write(folder.join("a b.js"), "1").unwrap();
        fs::write(folder.join(".hidden"), "secret").unwrap();
        fs::write(folder.join("locales/en.json"), "{}").unwrap();
        fs::write(folder.join("locales/index.html"), "list").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(base.join("secret.txt"), folder.join("way-out.txt")).unwrap();
        folder
    }

    /// The raw answer to one request.
    fn ask(address: &str, request: &str) -> String {
        let host = address.trim_start_matches("http://").trim_end_matches('/');
        let mut stream = TcpStream::connect(host).unwrap();
        write!(
            stream,
            "{request} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut text = Vec::new();
        stream.read_to_end(&mut text).unwrap();
        String::from_utf8_lossy(&text).into_owned()
    }

    #[test]
    fn files_are_found_and_nothing_outside_is() {
        let folder = site("find");
        for (url, expected) in [
            ("/", Some("page")),
            ("/index.html?low-nice=5#x", Some("page")),
            ("/a%20b.js", Some("1")),
            ("/locales/en.json", Some("{}")),
            ("/locales/", Some("list")),
            ("//locales//en.json", Some("{}")),
            ("/locales", None),
            ("/absent.js", None),
            ("/../secret.txt", None),
            ("/%2e%2e/secret.txt", None),
            ("/locales/../../secret.txt", None),
            ("/..%2fsecret.txt", None),
            ("/..\\secret.txt", None),
            ("/.hidden", None),
            ("/way-out.txt", None),
            ("/c:/secret.txt", None),
            ("/a%00b", None),
            ("/%", None),
            ("/%+1", None),
            ("/%ff", None),
        ] {
            let found = find(&folder, url).map(|(_, bytes)| String::from_utf8(bytes).unwrap());
            assert_eq!(found.as_deref(), expected, "{url}");
        }
        fs::remove_dir_all(folder.parent().unwrap()).unwrap();
    }

    #[test]
    fn answers_carry_type_policy_and_length() {
        let folder = site("answers");
        let running = start(&folder, None).unwrap();
        let page = ask(&running.address, "GET /");
        assert!(page.starts_with("HTTP/1.1 200"), "{page}");
        assert!(
            page.contains("Content-Type: text/html; charset=utf-8"),
            "{page}"
        );
        assert!(
            page.contains("script-src 'self' 'wasm-unsafe-eval';"),
            "{page}"
        );
        assert!(page.contains("Cache-Control: no-store"), "{page}");
        assert!(page.ends_with("\r\n\r\npage"), "{page}");
        let wasm = ask(&running.address, "GET /m_bg.wasm");
        assert!(
            wasm.contains("Content-Type: application/wasm\r\n"),
            "{wasm}"
        );
        let head = ask(&running.address, "HEAD /index.html");
        assert!(
            head.contains("Content-Length: 4\r\n") && head.ends_with("\r\n\r\n"),
            "{head}"
        );
        assert!(ask(&running.address, "GET /absent").starts_with("HTTP/1.1 404"));
        assert!(ask(&running.address, "HEAD /absent").starts_with("HTTP/1.1 404"));
        assert!(ask(&running.address, "POST /").starts_with("HTTP/1.1 405"));
        running.stop();
        fs::remove_dir_all(folder.parent().unwrap()).unwrap();
    }

    /// A browser opens several at once and keeps them; each must have its answer while the others stay open.
    #[test]
    fn connections_that_come_at_once_are_all_answered() {
        let folder = site("crowd");
        let running = start(&folder, None).unwrap();
        let host = running.address.trim_start_matches("http://");
        let host = host.trim_end_matches('/');
        for _ in 0..20 {
            let mut crowd: Vec<_> = (0..24).map(|_| TcpStream::connect(host).unwrap()).collect();
            for stream in &mut crowd {
                write!(stream, "GET /m_bg.wasm HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
            }
            for stream in &mut crowd {
                // Without an answer it would wait for ever: an error tells more.
                let patience = Duration::from_secs(60);
                stream.set_read_timeout(Some(patience)).unwrap();
                let mut first = [0; 12];
                stream.read_exact(&mut first).expect("an answer");
                assert_eq!(&first, b"HTTP/1.1 200");
            }
        }
        // Those who stay connected do not keep it from ending.
        let _idle = TcpStream::connect(host).unwrap();
        running.stop();
        fs::remove_dir_all(folder.parent().unwrap()).unwrap();
    }

    #[test]
    fn a_taken_port_is_passed_over_or_refused() {
        let folder = site("ports");
        let (a, b) = (start(&folder, None).unwrap(), start(&folder, None).unwrap());
        assert_ne!(a.address, b.address);
        let taken = a
            .address
            .trim_end_matches('/')
            .rsplit(':')
            .next()
            .unwrap()
            .parse()
            .unwrap();
        let error = start(&folder, Some(taken))
            .err()
            .expect("the port is taken")
            .to_string();
        assert_eq!(error, format!("port {taken} cannot be used"));
        a.stop();
        b.stop();
        fs::remove_dir_all(folder.parent().unwrap()).unwrap();
    }
}
