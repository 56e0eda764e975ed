import Foundation
import HearthClient
import TestSupport
import Testing

@Suite("TLS", .tags(.slow), .timeLimit(.minutes(10)))
struct TLSTests {
    /// Calls `body` with a server with a certificate, and the folder of the files `chain.pem` and `key.pem`.
    private func withTLSServer(
        arguments: [String] = [],
        _ body: (EndToEndServer, URL) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try TestCertificate().write(to: folder)
            let server = try await EndToEndServer(
                data: folder.appendingPathComponent("data"),
                arguments: Self.arguments(folder) + arguments
            )
            do {
                try await body(server, folder)
            } catch {
                _ = try await server.stop(with: SIGKILL)
                throw error
            }
            #expect(try await server.stop() == .code(0))
        }
    }

    private static func arguments(_ folder: URL) -> [String] {
        ["--tls-certificate", folder.path + "/chain.pem", "--tls-key", folder.path + "/key.pem"]
    }

    @Test func `Serves HTTP/1.1 and HTTP/2 over TLS 1.2 and 1.3, and nothing older`() async throws {
        try await withTLSServer { server, folder in
            #expect(server.address.hasPrefix("https://127.0.0.1:"))
            for (option, version) in [("--http1.1", "1.1"), ("--http2", "2"), ("--http2-prior-knowledge", "2")] {
                let command = "curl -s --cacert \(folder.path)/chain.pem \(option) -w ' %{http_version}' \(server.address)/health"
                let response = try await shell(command)
                #expect(response.output.joined().hasSuffix(" \(version)"), "\(option) \(response)")
            }
            let authority = server.address.dropFirst("https://".count)
            for (option, isAccepted) in [("-tls1_1", false), ("-tls1_2", true), ("-tls1_3", true)] {
                let command = "openssl s_client -connect \(authority) -cipher DEFAULT@SECLEVEL=0 \(option) </dev/null 2>&1"
                let handshake = try await shell(command)
                #expect((handshake.status == .code(0)) == isAccepted, "\(option) \(handshake)")
            }
            for (offered, chosen) in [("h2,http/1.1", "h2"), ("http/1.1", "http/1.1")] {
                let command = "openssl s_client -connect \(authority) -alpn \(offered) </dev/null 2>&1 | grep ALPN"
                #expect(try await shell(command).output == ["ALPN protocol: \(chosen)"])
            }
            let plain = try await shell("curl -s -w ' %{http_code}' http://\(authority)/health")
            #expect(plain.output.joined(separator: " ").hasSuffix("400"))
        }
    }

    @Test func `The command line and the Swift client trust an authority that they are told of`() async throws {
        try await withTLSServer { server, folder in
            let authority = ["HEARTH_SERVER": server.address, "HEARTH_CA_FILE": folder.path + "/chain.pem"]
            let set = try await hearth("set", "c/a", "{\"n\": 1}", environment: authority)
            #expect(set.status == .code(0), "\(set)")
            let get = try await hearth("get", "c/a", "--server", server.address, "--ca-file", folder.path + "/chain.pem")
            #expect(get.status == .code(0) && get.output.joined().contains(#""n":1"#))
            let untrusted = try await hearth("get", "c/a", environment: ["HEARTH_SERVER": server.address])
            #expect(untrusted.status == .code(1) && !untrusted.errorText.isEmpty)
            let settings = FirestoreSettings()
            settings.host = String(server.address.dropFirst("https://".count))
            settings.isSSLEnabled = true
            settings.certificateAuthorities = Array(try Data(contentsOf: folder.appendingPathComponent("chain.pem")))
            let db = Firestore(settings: settings)
            let document = try await db.document("c/a").getDocument()
            #expect(document.get("n") as? Int == 1)
            try await db.terminate()
            settings.certificateAuthorities = []
            let error = await #expect(throws: FirestoreError.self) {
                try await Firestore(settings: settings).document("c/a").getDocument()
            }
            #expect(error?.code == FirestoreErrorCode.invalidArgument.rawValue)
        }
    }

    @Test func `The lowest version can be raised`() async throws {
        try await withTLSServer(arguments: ["--tls-minimum-version", "1.3"]) { server, _ in
            let authority = server.address.dropFirst("https://".count)
            let old = try await shell("openssl s_client -connect \(authority) -tls1_2 </dev/null 2>&1")
            let new = try await shell("openssl s_client -connect \(authority) -tls1_3 </dev/null 2>&1")
            #expect(old.status != .code(0) && new.status == .code(0))
        }
    }

    @Test func `A new certificate is used by new connections, and open streams go on`() async throws {
        try await withTLSServer { server, folder in
            let reloads = 20
            let streams = try (0..<10).map { number in
                try HearthProcess(
                    [
                        "-sSN", "--insecure", number.isMultiple(of: 2) ? "--http1.1" : "--http2",
                        "\(server.address)/watch?collection=c",
                    ],
                    program: URL(filePath: "/usr/bin/curl")
                )
            }
            for stream in streams { try await expect("\"current\"", 1, in: stream) }
            for number in 1...reloads {
                let certificate = try TestCertificate()
                try certificate.write(to: folder)
                if number.isMultiple(of: 5) { server.process.send(SIGHUP) }
                try await waitForCertificate(in: folder, of: server)
                let call = #"{"jsonrpc":"2.0","id":1,"method":"documents.set","params":{"path":"c/\#(number)","fields":{}}}"#
                let response = try await shell(
                    """
                    curl -sS --cacert '\(folder.path)/chain.pem' -H 'Content-Type: application/json' -d '\(call)' \(server.address)/rpc
                    """
                )
                #expect(response.output.joined().contains("updateTime"), "\(response)")
            }
            for stream in streams {
                try await expect("\"added\"", reloads, in: stream)
                _ = try await stream.end(with: SIGKILL)
            }
        }
    }

    /// Waits until the output of a program has contained a text a number of times.
    private func expect(_ text: String, _ count: Int, in process: HearthProcess) async throws {
        var found = 0
        for await line in process.output where line.contains(text) {
            found += 1
            if found == count { return }
        }
        Issue.record("\(found) of \(count) lines with \(text)")
    }

    /// Waits until the server presents the certificate in a folder.
    private func waitForCertificate(in folder: URL, of server: EndToEndServer) async throws {
        let health = "curl -s -o /dev/null --cacert '\(folder.path)/chain.pem' \(server.address)/health"
        while try await shell(health).status != .code(0) { try await Task.sleep(for: .milliseconds(50)) }
    }

    @Test func `A certificate that cannot be used leaves the current one in place`() async throws {
        try await withTLSServer { server, folder in
            let current = try Data(contentsOf: folder.appendingPathComponent("chain.pem"))
            let trusted = folder.appendingPathComponent("trusted.pem")
            try current.write(to: trusted)
            let other = try TestCertificate()
            // Half of a pair, then half of a file.
            try Data(other.key).write(to: folder.appendingPathComponent("key.pem"), options: .atomic)
            try await expectLog("does not belong to the first certificate", of: server)
            try Data(other.chain.dropLast(100)).write(to: folder.appendingPathComponent("chain.pem"), options: .atomic)
            try await expectLog("has no certificate in PEM format", of: server)
            #expect(try await shell("curl -s -o /dev/null --cacert \(trusted.path) \(server.address)/health").status == .code(0))
            try Data(other.chain).write(to: folder.appendingPathComponent("chain.pem"), options: .atomic)
            try await waitForCertificate(in: folder, of: server)
        }
    }

    private func expectLog(_ text: String, of server: EndToEndServer) async throws {
        for await line in server.process.errors where line.contains(text) { return }
        Issue.record("The server did not log: \(text)")
    }

    @Test func `A server does not start with a certificate that it cannot use, and says why`() async throws {
        try await withTemporaryFolder { folder in
            let data = folder.appendingPathComponent("data").path
            let missing = try await HearthProcess(["serve", "--data", data, "--port", "0"] + Self.arguments(folder)).result()
            #expect(missing.status == .code(1) && missing.errorText.contains("chain.pem"))
            try TestCertificate().write(to: folder)
            try Data(TestCertificate().key).write(to: folder.appendingPathComponent("key.pem"))
            let mismatched = try await HearthProcess(["serve", "--data", data, "--port", "0"] + Self.arguments(folder)).result()
            #expect(mismatched.status == .code(1))
            #expect(mismatched.errorText.contains("The private key does not belong to the first certificate"))
            let half = try await HearthProcess(["serve", "--data", data, "--tls-key", folder.path + "/key.pem"]).result()
            #expect(half.status == .code(64) && half.errorText.contains("both --tls-certificate and --tls-key"))
            #expect(!FileManager.default.fileExists(atPath: data))
        }
    }

    @Test func `With authorities of clients, only those with a certificate of theirs connect`() async throws {
        try await withTemporaryFolder { clients in
            let (authority, other) = (try TestCertificate(), try TestCertificate())
            let authorities = clients.appendingPathComponent("authorities.pem")
            try Data(authority.chain).write(to: authorities)
            let client = try TestCertificate(issuedBy: authority)
            try client.write(to: clients)
            let stranger = clients.appendingPathComponent("stranger")
            try FileManager.default.createDirectory(at: stranger, withIntermediateDirectories: false)
            try TestCertificate(issuedBy: other).write(to: stranger)
            try await withTLSServer(arguments: ["--tls-client-ca", authorities.path]) { server, folder in
                func status(_ identity: URL?, _ option: String) async throws -> CommandResult {
                    let pair = identity.map { "--cert '\($0.path)/chain.pem' --key '\($0.path)/key.pem'" } ?? ""
                    let command = "curl -sS --cacert '\(folder.path)/chain.pem' \(option) \(pair) \(server.address)/health"
                    return try await shell(command)
                }
                for option in ["--tls-max 1.2", "--tlsv1.3", "--http1.1", "--http2"] {
                    let (accepted, without, strange) = (
                        try await status(clients, option), try await status(nil, option), try await status(stranger, option)
                    )
                    #expect(accepted.status == .code(0), "\(option) \(accepted)")
                    #expect(without.status != .code(0) && strange.status != .code(0), "\(option) \(without) \(strange)")
                }
                // The command line and the Swift client present one.
                var environment = ["HEARTH_SERVER": server.address, "HEARTH_CA_FILE": folder.path + "/chain.pem"]
                let refused = try await hearth("get", "c/a", environment: environment)
                #expect(refused.status == .code(1) && !refused.errorText.isEmpty)
                environment["HEARTH_CLIENT_CERTIFICATE"] = clients.path + "/chain.pem"
                let half = try await hearth("set", "c/a", "{\"n\": 1}", environment: environment)
                #expect(half.errorText.contains("both --client-certificate and --client-key"))
                environment["HEARTH_CLIENT_KEY"] = clients.path + "/key.pem"
                let set = try await hearth("set", "c/a", "{\"n\": 1}", environment: environment)
                #expect(set.status == .code(0), "\(set)")
                let settings = FirestoreSettings()
                settings.host = String(server.address.dropFirst("https://".count))
                settings.isSSLEnabled = true
                settings.certificateAuthorities = Array(try Data(contentsOf: folder.appendingPathComponent("chain.pem")))
                settings.clientCertificate = ClientCertificate(chain: client.chain, key: client.key)
                let db = Firestore(settings: settings)
                let document = try await db.document("c/a").getDocument()
                #expect(document.get("n") as? Int == 1)
                try await db.terminate()
                settings.clientCertificate?.key = authority.key
                let mismatched = await #expect(throws: FirestoreError.self) {
                    try await Firestore(settings: settings).document("c/a").getDocument()
                }
                #expect(mismatched?.code == FirestoreErrorCode.invalidArgument.rawValue)
                // Authorities are replaced as certificates are.
                try Data(other.chain).write(to: authorities, options: .atomic)
                while try await status(stranger, "").status != .code(0) { try await Task.sleep(for: .milliseconds(50)) }
                #expect(try await status(clients, "").status != .code(0))
            }
        }
    }

    @Test func `A server of other machines tells browsers to keep to TLS, and sessions have a Secure cookie`() async throws {
        try await withTemporaryFolder { folder in
            try TestCertificate().write(to: folder)
            let data = folder.appendingPathComponent("data")
            let created = try await hearth("keys", "create", "--role", "admin", "--data", data.path)
            let key = try #require(created.output.last { $0.hasPrefix("fsk_") })
            let server = try await EndToEndServer(data: data, arguments: Self.arguments(folder) + ["--host", "0.0.0.0"])
            let port = try #require(server.address.split(separator: ":").last)
            let curl = "curl -sS --cacert '\(folder.path)/chain.pem' -b '\(folder.path)/jar' -c '\(folder.path)/jar'"
            let address = "https://localhost:\(port)"
            let page = try await shell("\(curl) -i \(address)/admin/sign-in")
            let text = page.output.joined(separator: "\n")
            #expect(text.lowercased().contains("strict-transport-security: max-age=31536000"))
            let token = try #require(text.firstMatch(of: /name="form-token"[^>]*value="([^"]+)"/)).1
            let form =
                "-H 'Origin: \(address)' --data-urlencode 'key=\(key)' --data-urlencode 'form-token=\(token)' -d next=/admin/"
            let signedIn = try await shell("\(curl) -i \(form) \(address)/admin/sign-in")
            let cookie = try #require(signedIn.output.first { $0.contains("__Host-session=") }, "\(signedIn)")
            #expect(cookie.contains("; Secure"))
            let home = try await shell("\(curl) -o /dev/null -w '%{http_code}' \(address)/admin/")
            #expect(home.output == ["200"])
            #expect(try await server.stop() == .code(0))
        }
    }
}
