import DocumentModel
import DocumentStore
import Foundation
import HearthHTTP
import Logging
import Synchronization
import TestSupport
import Testing

@testable import HearthCLI

@Suite("Files of the certificate", .timeLimit(.minutes(10)))
struct CertificateFilesTests {
    private let log = LogLines()

    private func paths(_ folder: URL, clientAuthorities: String? = nil) -> CertificateFiles.Paths {
        CertificateFiles.Paths(
            chain: folder.path + "/chain.pem",
            key: folder.path + "/key.pem",
            clientAuthorities: clientAuthorities
        )
    }

    private func follow(_ paths: CertificateFiles.Paths) throws -> CertificateFiles {
        try CertificateFiles(paths, minimumVersion: .tls12, logger: log.logger)
    }

    @Test func `A change between reading and the first check is noticed`() async throws {
        try await withTemporaryFolder { folder in
            try TestCertificate().write(to: folder)
            let files = try follow(paths(folder))
            let expirationTime = files.certificate.expirationTime
            try TestCertificate(lifetime: .seconds(60 * 86_400)).write(to: folder)
            await files.check()
            #expect(files.certificate.expirationTime > expirationTime)
            #expect(log.count("Certificate reloaded") == 1)
            await files.check()
            #expect(log.count("Certificate reloaded") == 1)
        }
    }

    @Test func `A failure is logged once, for the file at fault, and tried again until the files can be used`() async throws {
        try await withTemporaryFolder { folder in
            try TestCertificate(lifetime: .seconds(40 * 86_400)).write(to: folder)
            let files = try follow(paths(folder))
            let expirationTime = files.certificate.expirationTime
            let second = try TestCertificate(lifetime: .seconds(60 * 86_400))
            try Data(second.key).write(to: folder.appendingPathComponent("key.pem"), options: .atomic)
            for _ in 0..<3 { await files.check() }
            await #expect(throws: StatusError.self) { try await files.reload(paths(folder)) }
            #expect(log.count("Failed to reload") == 1 && log.count("file: \(folder.path)/key.pem") == 1)
            try Data(second.chain.dropLast(100)).write(to: folder.appendingPathComponent("chain.pem"), options: .atomic)
            for _ in 0..<3 { await files.check() }
            #expect(log.count("Failed to reload") == 2 && log.count("file: \(folder.path)/chain.pem") == 1)
            // A folder cannot be read.
            let chain = folder.appendingPathComponent("chain.pem")
            try FileManager.default.moveItem(at: chain, to: folder.appendingPathComponent("moved.pem"))
            try FileManager.default.createDirectory(at: chain, withIntermediateDirectories: false)
            for _ in 0..<3 { await files.check() }
            #expect(log.count("Failed to reload") == 3)
            #expect(files.certificate.expirationTime == expirationTime)
            try FileManager.default.removeItem(at: chain)
            try second.write(to: folder)
            await files.check()
            #expect(files.certificate.expirationTime > expirationTime)
        }
    }

    @Test func `A fault that ends without a change of the files is noticed`() async throws {
        try await withTemporaryFolder { folder in
            try TestCertificate().write(to: folder)
            var watched = WatchedFiles()
            watched.add(folder.path + "/chain.pem")
            watched.add(folder.path + "/missing.pem")
            #expect(watched.takeChanges() == [])
            watched.forget()
            #expect(watched.takeChanges() == [folder.path + "/chain.pem"])
            #expect(watched.takeChanges() == [])
        }
    }

    @Test func `An expired pair leaves the current one in place`() async throws {
        try await withTemporaryFolder { folder in
            try TestCertificate().write(to: folder)
            let files = try follow(paths(folder))
            let expirationTime = files.certificate.expirationTime
            try TestCertificate(lifetime: .seconds(-60)).write(to: folder)
            await files.check()
            #expect(files.certificate.expirationTime == expirationTime)
            #expect(log.count("The certificate expired at") == 1)
        }
    }

    @Test func `The log warns of expiration once for each of the days, and when it has come`() async throws {
        try await withTemporaryFolder { folder in
            try TestCertificate(lifetime: .seconds(40 * 86_400)).write(to: folder)
            let files = try follow(paths(folder))
            await files.check()
            #expect(log.count("expires soon") == 0)
            for (index, days) in [20, 13, 6, 2, 1].enumerated() {
                try TestCertificate(lifetime: .seconds(days * 86_400 - 3_600)).write(to: folder)
                for _ in 0..<3 { await files.check() }
                #expect(log.count("expires soon") == index + 1, "\(days)")
            }
            // A renewal ends the warnings, and the next ones come again.
            try TestCertificate(lifetime: .seconds(90 * 86_400)).write(to: folder)
            await files.check()
            try TestCertificate(lifetime: .seconds(29 * 86_400)).write(to: folder)
            await files.check()
            #expect(log.count("expires soon") == 6)
            try TestCertificate(lifetime: .seconds(5)).write(to: folder)
            await files.check()
            #expect(log.count("expires soon") == 7)
            while files.certificate.expirationTime > .current() { try await Task.sleep(for: .milliseconds(100)) }
            for _ in 0..<3 { await files.check() }
            #expect(log.count("The certificate has expired") == 1)
        }
    }

    @Test func `The log warns of an intermediate authority that has expired`() async throws {
        try await withTemporaryFolder { folder in
            try TestCertificate(issuedBy: TestCertificate(lifetime: .seconds(-60))).write(to: folder)
            let files = try follow(paths(folder))
            for _ in 0..<3 { await files.check() }
            #expect(log.count("intermediate authority has expired") == 1)
        }
    }

    @Test func `The authorities of clients are read with the pair`() async throws {
        try await withTemporaryFolder { folder in
            try TestCertificate().write(to: folder)
            let authorities = folder.appendingPathComponent("clients.pem")
            let missing = #expect(throws: StatusError.self) {
                try follow(paths(folder, clientAuthorities: authorities.path))
            }
            #expect(missing?.message.contains("clients.pem") == true)
            try Data("none".utf8).write(to: authorities)
            let error = #expect(throws: StatusError.self) { try follow(paths(folder, clientAuthorities: authorities.path)) }
            #expect(error?.message.contains("--tls-client-ca \(authorities.path)") == true)
            try Data(TestCertificate().chain).write(to: authorities)
            let files = try follow(paths(folder, clientAuthorities: authorities.path))
            try Data("none".utf8).write(to: authorities)
            await files.check()
            #expect(log.count("file: \(authorities.path)") == 1)
        }
    }
}

/// The lines of a log.
private final class LogLines: Sendable {
    private let lines = Mutex<[String]>([])

    var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    /// Returns the number of lines that contain a text.
    func count(_ text: String) -> Int { lines.withLock { $0.count { $0.contains(text) } } }

    private struct Handler: LogHandler {
        let log: LogLines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        init(log: LogLines) { self.log = log }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let fields = (event.metadata ?? [:]).map { "\($0): \($1)" }.sorted().joined(separator: ", ")
            log.lines.withLock { $0.append("\(event.message) \(fields)") }
        }
    }
}
