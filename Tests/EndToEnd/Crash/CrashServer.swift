import DocumentModel
import Foundation
import HearthClient
import StrictJSON
import TestSupport
import UTF8Text

/// A `hearth serve` process that may be killed at any time.
struct CrashServer: Sendable {
    let process: ServerProcess
    let connection: HearthConnection
    /// The API key of the connection; `nil` without one.
    private(set) var key: String?

    /// The server exited before it was ready.
    struct StartFailure: Error, CustomStringConvertible {
        let status: ServerProcess.ExitStatus
        let errors: String

        var description: String { "hearth serve did not start: \(status) \(errors)" }
    }

    /// The server had exited when something failed.
    struct UnexpectedExit: Error, CustomStringConvertible {
        let status: ServerProcess.ExitStatus
        let errors: String
        let failure: any Error

        var description: String { "hearth serve had exited (\(status) \(errors)) when this failed: \(failure)" }
    }

    /// Starts a server on a data folder and waits until it is ready.
    ///
    /// - Throws: ``StartFailure`` if it exits first.
    init(data: URL, plan: FaultPlan? = nil, arguments: [String] = []) async throws {
        try await self.init(Self.launch(data: data, plan: plan, arguments: arguments))
    }

    /// Starts a server on an engine and waits until it is ready.
    ///
    /// - Parameters:
    ///   - folder: The folder of its own files.
    ///   - arguments: Further arguments of `hearth serve`.
    ///   - key: The API key of the connection.
    ///   - launcher: A command that runs the server in its process; empty for none.
    ///   - authorities: The certificates that the connection trusts beside those of the system; `nil` for none.
    /// - Throws: ``StartFailure`` if it exits first.
    init(
        engine: String,
        folder: URL,
        arguments: [String] = [],
        key: String? = nil,
        launcher: [String] = [],
        authorities: [UInt8]? = nil
    ) async throws {
        let arguments = ["serve", "--engine", engine, "--server-folder", folder.path, "--port", "0"] + arguments
        try await self.init(ServerProcess(arguments, environment: [:], launcher: launcher), key: key, authorities)
    }

    private init(_ process: ServerProcess, key: String? = nil, _ authorities: [UInt8]? = nil) async throws {
        self.process = process
        self.key = key
        guard let address = await process.firstLine() else {
            let (status, errors) = try await process.exit()
            throw StartFailure(status: status, errors: errors)
        }
        do {
            // A commit without an answer fails at once: what became of it is what the tests find out.
            connection = try HearthConnection(
                server: ServerAddress(address),
                key: key,
                resendTimeout: .zero,
                certificateAuthorities: authorities
            )
        } catch {
            process.send(SIGKILL)
            throw error
        }
    }

    /// Starts a server with frequent checkpoints, without waiting for it.
    ///
    /// It makes no commits of edits, whose system calls would come at any time between the counted ones.
    static func launch(data: URL, plan: FaultPlan? = nil, arguments: [String] = []) throws -> ServerProcess {
        try ServerProcess(
            ["serve", "--data", data.path, "--port", "0", "--checkpoint-mebibytes", "1", "--no-folder-edits"] + arguments,
            environment: try plan?.environment(for: data) ?? [:]
        )
    }

    /// Calls `body`; kills the server if it throws.
    func killingOnError<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch {
            process.send(SIGKILL)
            await connection.shutdown()
            if let (status, errors) = try? await process.exit(), status != .signal(SIGKILL) {
                throw UnexpectedExit(status: status, errors: errors, failure: error)
            }
            throw error
        }
    }

    /// Sends a signal and waits until the process has exited.
    @discardableResult
    func stop(with signal: Int32) async throws -> ServerProcess.ExitStatus {
        let status = try await process.end(with: signal)
        await connection.shutdown()
        return status
    }
}

extension CrashServer {
    /// Sends a commit and returns its commit time.
    ///
    /// Uses `documents.set` for a single document, otherwise `documents.commit`.
    ///
    /// - Parameter inTransaction: Whether to read the documents in a transaction first.
    func commit(_ writes: [PlannedWrite], inTransaction: Bool = false) async throws(StatusError) -> Timestamp {
        let transaction = inTransaction ? try await beginTransaction(reading: writes.map(\.path)) : nil
        if transaction == nil, writes.count == 1, let write = writes.first, let fields = write.fields {
            guard let time = try await connection.set(write.path, fields).updateTime else {
                throw StatusError(.internal, "documents.set returned no update time")
            }
            return time
        }
        let result = try await connection.call("documents.commit") { params in
            params.key("writes")
            params.beginArray()
            for write in writes { write.write(to: &params) }
            params.endArray()
            if let transaction {
                params.key("transaction")
                params.string(transaction)
            }
        }
        guard let time = result["commitTime"]?.string else {
            throw StatusError(.internal, "documents.commit returned no commit time")
        }
        return try Timestamp(rfc3339: time)
    }

    /// Creates a composite index and an exemption for a collection, so that checks of the index cover both.
    ///
    /// - Throws: The error of the server or of the connection, except if the definitions already exist.
    func defineIndexes(of collection: String) async throws(StatusError) {
        try await define("indexes.create") { params in
            params.key("collection")
            params.string(collection)
            params.key("fields")
            params.beginArray()
            for (field, direction) in [("text", "asc"), (PlannedWrite.number.string, "desc")] {
                params.beginObject()
                params.key("field")
                params.string(field)
                params.key("direction")
                params.string(direction)
                params.endObject()
            }
            params.endArray()
        }
        try await define("indexes.exempt") { params in
            params.key("collection")
            params.string(collection)
            params.key("field")
            params.string("list")
        }
    }

    private func define(_ method: UTF8Key, _ params: (inout JSONWriter) -> Void) async throws(StatusError) {
        do throws(StatusError) {
            _ = try await connection.call(method, params)
        } catch {
            guard error.code == .alreadyExists else { throw error }
        }
    }

    private func beginTransaction(reading paths: [DocumentPath]) async throws(StatusError) -> String {
        let begun = try await connection.call("transactions.begin") { _ in }
        guard let transaction = begun["transaction"]?.string else {
            throw StatusError(.internal, "transactions.begin returned no transaction")
        }
        _ = try await connection.call("documents.batchGet") { params in
            params.key("paths")
            params.beginArray()
            for path in paths { params.string(path.string) }
            params.endArray()
            params.key("transaction")
            params.string(transaction)
        }
        return transaction
    }

    /// Sets documents with a batch write; returns the result of each write.
    func batchWrite(_ writes: [PlannedWrite]) async throws(StatusError) -> [Result<Timestamp, StatusError>] {
        let result = try await connection.call("documents.batchWrite") { params in
            params.key("writes")
            params.beginArray()
            for write in writes { write.write(to: &params) }
            params.endArray()
        }
        guard let elements = result["writeResults"]?.elements.map(Array.init), elements.count == writes.count else {
            throw StatusError(.internal, "documents.batchWrite returned no results")
        }
        return elements.map { element in
            Result { () throws(StatusError) in
                guard let time = element["updateTime"]?.string else {
                    throw StatusError(.unavailable, "A write failed: \(String(decoding: element.rawBytes, as: UTF8.self))")
                }
                return try Timestamp(rfc3339: time)
            }
        }
    }
}

extension CommitHistory.Outcome {
    /// Returns the outcome of a commit whose call failed.
    init(_ error: StatusError) {
        switch error.code {
        // The server may have died, or a sync failed with unknown effect.
        case .unavailable, .cancelled, .deadlineExceeded, .unknown, .internal, .dataLoss: self = .unknown
        default: self = .rejected
        }
    }
}

extension PlannedWrite {
    /// Writes an element of the `writes` parameter of `documents.commit`.
    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key(fields == nil ? "delete" : "set")
        writer.beginObject()
        writer.key("path")
        writer.string(path.string)
        if let fields {
            writer.key("fields")
            fields.write(to: &writer)
        }
        writer.endObject()
        writer.endObject()
    }
}
