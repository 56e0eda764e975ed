package import Foundation
import Testing

/// A certificate for `localhost` and `127.0.0.1` that has signed itself, made by the program `openssl`.
package struct TestCertificate: Sendable {
    /// The certificate and its private key in PEM format.
    package let chain: [UInt8]
    package let key: [UInt8]

    /// Makes a certificate.
    ///
    /// - Parameter days: The number of days until it expires.
    package init(days: Int = 30) throws {
        let folder = try TemporaryFolder()
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/openssl")
        process.arguments = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "\(days)",
            "-keyout", folder["key.pem"], "-out", folder["chain.pem"], "-subj", "/CN=localhost", "-addext",
            "subjectAltName=DNS:localhost,IP:127.0.0.1",
        ]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        chain = Array(try Data(contentsOf: URL(filePath: folder["chain.pem"])))
        key = Array(try Data(contentsOf: URL(filePath: folder["key.pem"])))
    }

    /// Writes both files into a folder, each replaced by a rename: first the key, as programs that renew certificates do.
    package func write(to folder: URL) throws {
        try Data(key).write(to: folder.appendingPathComponent("key.pem"), options: .atomic)
        try Data(chain).write(to: folder.appendingPathComponent("chain.pem"), options: .atomic)
    }
}
