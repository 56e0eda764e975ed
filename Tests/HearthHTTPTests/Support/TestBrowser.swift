import ServerTestSupport

/// A minimal browser: it stores cookies and sends the origin of its forms.
struct TestBrowser {
    let server: InProcessServer
    /// The host name in requests.
    var host = "localhost"
    var scheme = "http"
    private(set) var cookies: [String: String] = [:]

    init(_ server: InProcessServer) {
        self.server = server
    }

    /// Requests a page.
    mutating func get(_ address: String, _ fields: [String] = []) async throws -> RawResponse {
        try await send("GET", address, fields, body: nil)
    }

    /// Submits a form of the server's own pages.
    mutating func post(_ address: String, _ form: String, _ fields: [String]? = nil) async throws -> RawResponse {
        let origin = fields ?? ["Origin: \(scheme)://\(host)", "Sec-Fetch-Site: same-origin"]
        return try await send("POST", address, origin + ["Content-Type: application/x-www-form-urlencoded"], body: form)
    }

    /// Uploads a file with the form of the import page.
    ///
    /// - Parameter type: The spelling of the form's media type.
    mutating func upload(_ file: String, type: String = "multipart/form-data") async throws -> RawResponse {
        let page = try await get("/admin/import")
        let parts = [
            "Content-Disposition: form-data; name=\"form-token\"\r\n\r\n\(page.formToken)",
            "Content-Disposition: form-data; name=\"file\"; filename=\"x.ndjson\"\r\n\r\n\(file)",
        ]
        let body = parts.map { "--XX\r\n\($0)\r\n" }.joined() + "--XX--\r\n"
        let fields = [
            "Origin: \(scheme)://\(host)", "Sec-Fetch-Site: same-origin", "Content-Type: \(type); boundary=XX",
        ]
        return try await send("POST", "/admin/import", fields, body: body)
    }

    /// Signs in with the form of the sign-in page.
    mutating func signIn(_ key: String, next: String = "/admin/") async throws -> RawResponse {
        let page = try await get("/admin/sign-in")
        return try await post("/admin/sign-in", "key=\(key)&next=\(next)&form-token=\(page.formToken)")
    }

    private mutating func send(_ method: String, _ address: String, _ fields: [String], body: String?) async throws -> RawResponse
    {
        let cookie = cookies.isEmpty ? [] : ["Cookie: " + cookies.map { "\($0)=\($1)" }.joined(separator: "; ")]
        let all = ["Host: \(host)"] + cookie + fields
        let response = try await withConnection(to: server) { try await $0.send(method, address, all, body: body) }
        for field in response.fields where field.name == "set-cookie" {
            let pair = field.value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map(String.init)
            cookies[pair[0]] = field.value.contains("Max-Age=0") ? nil : pair[1]
        }
        return response
    }
}

extension RawResponse {
    /// The CSRF token of the first form on the page.
    var formToken: String {
        body.firstMatch(of: /name="form-token" value="([0-9a-f]*)"/).map { String($0.1) } ?? ""
    }

    func cookie(_ name: String) -> String? {
        fields.first { $0.name == "set-cookie" && $0.value.hasPrefix(name + "=") }?.value
    }
}
