package import Foundation
import Testing

/// A certificate for `localhost` and `127.0.0.1`, made by the program `openssl`. It may issue others.
package struct TestCertificate: Sendable {
    /// The certificate, followed by that of its authority unless it has signed itself, in PEM format.
    package let chain: [UInt8]
    /// The private key in PEM format.
    package let key: [UInt8]

    /// Makes a certificate.
    ///
    /// - Parameters:
    ///   - lifetime: The time until it expires, in whole seconds; negative for one that has expired.
    ///   - authority: The certificate that signs it; `nil` for one that signs itself.
    package init(lifetime: Duration = .seconds(30 * 86_400), issuedBy authority: TestCertificate? = nil) throws {
        let folder = try TemporaryFolder()
        try folder.write(
            """
            [ca]
            default_ca = authority
            [authority]
            database = \(folder["index"])
            new_certs_dir = \(folder.path)
            rand_serial = yes
            default_md = sha256
            policy = policy
            x509_extensions = extensions
            [policy]
            commonName = supplied
            [extensions]
            subjectAltName = DNS:localhost,IP:127.0.0.1
            basicConstraints = CA:TRUE

            """,
            to: "configuration"
        )
        try folder.write("", to: "index")
        try Self.openssl(
            "req",
            "-new",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-keyout",
            folder["key.pem"],
            "-out",
            folder["request.pem"],
            "-subj",
            authority == nil ? "/CN=localhost" : "/CN=\(UUID().uuidString)"
        )
        if let authority {
            try folder.write(authority.chain, to: "authority.pem")
            try folder.write(authority.key, to: "authority-key.pem")
        }
        let issuer =
            authority == nil
            ? ["-selfsign", "-keyfile", folder["key.pem"]]
            : ["-cert", folder["authority.pem"], "-keyfile", folder["authority-key.pem"]]
        let now = Date()
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = .gmt
        format.dateFormat = "yyyyMMddHHmmss'Z'"
        func time(_ date: Date) -> String { format.string(from: date) }
        try Self.openssl(
            [
                "ca", "-batch", "-notext", "-config", folder["configuration"], "-in", folder["request.pem"], "-out",
                folder["chain.pem"],
            ]
                + ["-startdate", time(now.addingTimeInterval(-1_000 * 86_400))]
                + ["-enddate", time(now.addingTimeInterval(lifetime / .seconds(1)))] + issuer
        )
        chain = try folder.bytes(of: "chain.pem") + (authority?.chain ?? [])
        key = try folder.bytes(of: "key.pem")
    }

    private static func openssl(_ arguments: String...) throws { try openssl(arguments) }

    private static func openssl(_ arguments: [String]) throws {
        try #require(try ChildProcess.run("/usr/bin/openssl", arguments) == .code(0))
    }

    /// Writes both files into a folder, each replaced by a rename: first the key, as programs that renew certificates do.
    package func write(to folder: URL) throws {
        try Data(key).write(to: folder.appendingPathComponent("key.pem"), options: .atomic)
        try Data(chain).write(to: folder.appendingPathComponent("chain.pem"), options: .atomic)
    }
}
