internal import CLibPQ
internal import DocumentModel
internal import Glibc

/// A connection to the engine, confined to one ``EngineSession``, whose thread its calls block.
///
/// Each call has a time limit. After a failure of the connection it is of no more use.
final class EngineConnection {
    private let pointer: OpaquePointer
    private let timeout: Duration
    /// The names of the prepared statements by their SQL.
    private var preparedNames: [String: String] = [:]
    private var preparedCount = 0
    /// The channels whose notifications the server sends.
    private var channels: Set<String> = []
    /// The shortest round trip so far.
    private var shortestRoundTrip: Duration = .zero
    /// False after a failure of the connection.
    private(set) var isUsable = true

    /// Connects.
    ///
    /// A blocking call, since only libpq knows all hosts of a URL and the state that each must have. It is bounded by the
    /// `connect_timeout` for each host.
    ///
    /// - Parameters:
    ///   - timeout: The time limit of each round trip.
    ///   - maximumIdle: The time after which the engine ends a transaction whose server sends nothing, so that a server that stands still
    ///     holds no lock for long that others wait for.
    /// - Throws: `.unavailable` when no host can be reached, `.failedPrecondition` when the user is refused.
    init(_ address: EngineAddress, timeout: Duration, maximumIdle: Duration = .seconds(10)) throws(StatusError) {
        guard let pointer = Self.connect(address.options) else {
            throw EngineError.connection(message: "out of memory").status
        }
        guard PQstatus(pointer) == CONNECTION_OK, PQsetnonblocking(pointer, 1) == 0 else {
            defer { PQfinish(pointer) }
            throw Self.connectionError(String(cString: PQerrorMessage(pointer))).status
        }
        self.pointer = pointer
        self.timeout = timeout
        // Notices, as of a table that exists already, would go to standard error.
        _ = PQsetNoticeProcessor(pointer, { _, _ in }, nil)
        let idle = Int64(maximumIdle / .milliseconds(1))
        let begin = ContinuousClock.now
        try executeScript("SET idle_in_transaction_session_timeout = '\(idle)ms'; \(Self.planSettingsSQL)")
        shortestRoundTrip = .now - begin
    }

    deinit {
        PQfinish(pointer)
    }

    /// The settings by which an engine plans a statement once, and reads ranges of indexes in their order, whatever it knows of the tables
    /// at that time: plans are kept, and all statements are written for such a range. Engines without a setting go without it.
    private static let planSettingsSQL = """
        SELECT set_config(name, CASE name WHEN 'plan_cache_mode' THEN 'force_generic_plan' ELSE 'off' END, false) FROM pg_settings
        WHERE name IN (
            'plan_cache_mode', 'jit', 'enable_seqscan', 'enable_bitmapscan', 'enable_hashjoin', 'enable_mergejoin'
        )
        """

    private static func connect(_ options: [(name: String, value: String)]) -> OpaquePointer? {
        var names = options.map { strdup($0.name) }
        var values = options.map { strdup($0.value) }
        defer { for pointer in names + values { free(pointer) } }
        names.append(nil)
        values.append(nil)
        return PQconnectdbParams(names.map { UnsafePointer($0) }, values.map { UnsafePointer($0) }, 1)
    }

    /// The error of a failed connection. libpq has no codes for it (https://www.postgresql.org/docs/15/libpq-status.html).
    private static func connectionError(_ message: String) -> EngineError {
        if message.contains("password authentication failed") || message.contains("no password supplied") {
            return .statement(code: "28P01", message: message)
        }
        if message.contains("FATAL:  database \"") && message.contains("does not exist") {
            return .statement(code: "3D000", message: message)
        }
        return .connection(message: message)
    }
}

extension EngineConnection {
    /// Executes a statement.
    @discardableResult
    func execute(_ statement: EngineStatement) throws(StatusError) -> EngineRows {
        // One statement has one result.
        try execute([statement])[0]
    }

    /// Executes statements one after the other, up to the first that fails, in one round trip.
    ///
    /// Statements between `BEGIN` and `COMMIT` are one transaction; without these, all of them are. A transaction that is open
    /// after a failure is rolled back.
    ///
    /// - Returns: The rows of each statement.
    /// - Throws: The error of the first statement that failed.
    @discardableResult
    func execute(_ statements: [EngineStatement]) throws(StatusError) -> [EngineRows] {
        let deadline = ContinuousClock.now + timeout
        var added: [String] = []
        do throws(EngineError) {
            guard statements.allSatisfy({ $0.byteCount <= Self.maximumMessageBytes }) else { throw .tooLarge }
            guard PQenterPipelineMode(pointer) == 1 else { throw failure }
            var prepares: [Bool] = []
            for statement in statements {
                let isNew = preparedNames[statement.sql] == nil
                if isNew { added.append(statement.sql) }
                prepares.append(isNew)
                try send(statement)
            }
            guard PQpipelineSync(pointer) == 1 else { throw failure }
            try flush(until: deadline)
            let rows = try results(prepares, until: deadline)
            guard PQexitPipelineMode(pointer) == 1 else { throw failure }
            return rows
        } catch {
            // The server may not have prepared them. A name is never used again.
            for sql in added { preparedNames[sql] = nil }
            guard !error.isConnectionLost else {
                isUsable = false
                throw error.status
            }
            if PQexitPipelineMode(pointer) != 1 { isUsable = false }
            rollBack()
            throw error.status
        }
    }

    /// Executes statements of an open transaction, the last of which ends it, in as many round trips as their values are large. A
    /// failure ends the transaction.
    func executeInSteps(_ statements: some Sequence<EngineStatement>) throws(StatusError) {
        var step: [EngineStatement] = []
        var byteCount = 0
        for statement in statements {
            step.append(statement)
            byteCount += statement.byteCount
            guard byteCount > Self.maximumStepBytes else { continue }
            try execute(step)
            (step, byteCount) = ([], 0)
        }
        if !step.isEmpty { try execute(step) }
    }

    /// The size of the values after which a round trip is made, so that no more of them are in the memory of both sides.
    private static let maximumStepBytes = 4 << 20
    /// The size of the values of a statement that are sent as one message, of which PostgreSQL takes 1 GiB.
    private static let maximumMessageBytes = 1_000_000_000

    /// Returns the time of a round trip beyond that of the shortest one of the connection.
    func delay(ofRoundTrip time: Duration) -> Duration {
        shortestRoundTrip = min(shortestRoundTrip, time)
        return time - shortestRoundTrip
    }

    /// Ends a transaction that is open, without its changes.
    func rollBack() {
        guard isUsable, PQtransactionStatus(pointer) != PQTRANS_IDLE else { return }
        // A failure makes the connection unusable, which ends the transaction too.
        _ = try? execute(EngineStatement("ROLLBACK"))
        if PQtransactionStatus(pointer) != PQTRANS_IDLE { isUsable = false }
    }

    /// Executes statements without parameters, such as definitions of tables, in one transaction.
    func executeScript(_ sql: String) throws(StatusError) {
        let deadline = ContinuousClock.now + timeout
        do throws(EngineError) {
            guard PQsendQuery(pointer, sql) == 1 else { throw failure }
            try flush(until: deadline)
            var error: EngineError?
            while let result = try nextResult(until: deadline) {
                defer { PQclear(result) }
                if error == nil { error = Self.error(of: result) }
            }
            if let error { throw error }
        } catch {
            if error.isConnectionLost { isUsable = false } else { rollBack() }
            throw error.status
        }
    }

    /// True if the engine has sent nothing since the last use. What it sends unasked is mostly that it ends the connection, as when it is
    /// stopped. Takes no round trip. Notifications are expected, so a connection with channels is quiet as long as it is usable.
    var isQuiet: Bool {
        guard isUsable, channels.isEmpty else { return isUsable }
        var descriptor = pollfd(fd: PQsocket(pointer), events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, 0) == 0
    }

    /// Asks for the notifications of a channel. Has no effect when that has been done.
    func listen(to channel: String) throws(StatusError) {
        guard !channels.contains(channel) else { return }
        try execute(EngineStatement("LISTEN \(channel)"))
        channels.insert(channel)
    }

    /// True if the engine has notifications, and the user may send them. To be read outside of a transaction.
    var canNotify: Bool {
        get throws(StatusError) {
            do throws(StatusError) {
                try execute([
                    EngineStatement("LISTEN hearth_check"), EngineStatement("SELECT pg_notify('hearth_check', '')"),
                    EngineStatement("UNLISTEN hearth_check"),
                ])
                return true
            } catch {
                guard case .statement(let code, _)? = error.engineError, error.engineError?.isConnectionLost != true else {
                    throw error
                }
                return !Self.codesWithoutNotifications.contains(code)
            }
        }
    }

    /// The codes of features that are not supported, of errors of syntax, of missing functions and of missing rights. Other errors pass, as
    /// that of a standby.
    private static let codesWithoutNotifications = ["0A000", "42601", "42883", "42501"]

    /// Waits for notifications, and returns their payloads; empty after the time limit.
    func notifications(within limit: Duration) throws(StatusError) -> [String] {
        do throws(EngineError) {
            var payloads = takeNotifications()
            if payloads.isEmpty, try wait(for: Int16(POLLIN), until: .now + limit) {
                guard PQconsumeInput(pointer) == 1 else { throw failure }
                payloads = takeNotifications()
            }
            return payloads
        } catch {
            isUsable = false
            throw error.status
        }
    }

    private func takeNotifications() -> [String] {
        var payloads: [String] = []
        while let notification = PQnotifies(pointer) {
            payloads.append(String(cString: notification.pointee.extra))
            PQfreemem(notification)
        }
        return payloads
    }
}

// MARK: - The protocol

extension EngineConnection {
    private func send(_ statement: EngineStatement) throws(EngineError) {
        let name: String
        if let known = preparedNames[statement.sql] {
            name = known
        } else {
            preparedCount += 1
            name = "hearth\(preparedCount)"
            preparedNames[statement.sql] = name
            guard PQsendPrepare(pointer, name, statement.sql, 0, nil) == 1 else { throw failure }
        }
        // All values in one buffer, with the place of each, or `nil` for null.
        var buffer: [UInt8] = []
        var places: [Int?] = []
        var lengths: [Int32] = []
        for value in statement.parameters {
            let start = buffer.count
            places.append(value.append(to: &buffer) ? start : nil)
            // Their sum is bounded.
            lengths.append(Int32(buffer.count - start))
        }
        // The address of an empty value must not be null.
        buffer.append(0)
        let isSent = buffer.withUnsafeBytes { buffer in
            let values = places.map { place in
                place.flatMap { buffer.baseAddress?.advanced(by: $0).assumingMemoryBound(to: CChar.self) }
            }
            let formats = [Int32](repeating: 1, count: places.count)
            return PQsendQueryPrepared(pointer, name, Int32(places.count), values, lengths, formats, 1)
        }
        guard isSent == 1 else { throw failure }
    }

    /// Sends what is buffered, and receives meanwhile, so that neither side waits for the other.
    private func flush(until deadline: ContinuousClock.Instant) throws(EngineError) {
        while true {
            switch PQflush(pointer) {
            case 0: return
            case 1:
                guard try wait(for: Int16(POLLIN | POLLOUT), until: deadline) else { throw .timeout }
                guard PQconsumeInput(pointer) == 1 else { throw failure }
            default: throw failure
            }
        }
    }

    /// Receives the results of a pipeline, to its end.
    ///
    /// - Parameter prepares: For each statement, true if it was prepared before.
    private func results(
        _ prepares: [Bool],
        until deadline: ContinuousClock.Instant
    ) throws(EngineError) -> [EngineRows] {
        var rows: [EngineRows] = []
        var error: EngineError?
        for isNew in prepares {
            for isStatement in isNew ? [false, true] : [true] {
                // Each command has one result and then none.
                guard let result = try nextResult(until: deadline) else { throw failure }
                let owner = EngineRows(result)
                if error == nil { error = Self.error(of: result) }
                if isStatement { rows.append(owner) }
                while let extra = try nextResult(until: deadline) { PQclear(extra) }
            }
        }
        guard let end = try nextResult(until: deadline) else { throw failure }
        defer { PQclear(end) }
        guard PQresultStatus(end) == PGRES_PIPELINE_SYNC else { throw error ?? failure }
        if let error { throw error }
        return rows
    }

    private func nextResult(until deadline: ContinuousClock.Instant) throws(EngineError) -> OpaquePointer? {
        while PQisBusy(pointer) == 1 {
            guard try wait(for: Int16(POLLIN), until: deadline) else { throw .timeout }
            guard PQconsumeInput(pointer) == 1 else { throw failure }
        }
        return PQgetResult(pointer)
    }

    /// Returns the error of a result; `nil` for one of success, and for a statement after one that failed.
    private static func error(of result: OpaquePointer) -> EngineError? {
        guard PQresultStatus(result) == PGRES_FATAL_ERROR else { return nil }
        let message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY).map { String(cString: $0) }
        guard let code = PQresultErrorField(result, PG_DIAG_SQLSTATE) else {
            // libpq's own error: the connection is lost.
            return .connection(message: PQresultErrorMessage(result).map { String(cString: $0) } ?? "")
        }
        return .statement(code: String(cString: code), message: message ?? "")
    }

    /// The error of a call of libpq that has failed.
    private var failure: EngineError {
        .connection(message: String(cString: PQerrorMessage(pointer)))
    }

    /// Waits until the socket is ready; returns `false` after the deadline.
    private func wait(for events: Int16, until deadline: ContinuousClock.Instant) throws(EngineError) -> Bool {
        while true {
            let milliseconds = (deadline - .now) / .milliseconds(1)
            guard milliseconds > 0 else { return false }
            var descriptor = pollfd(fd: PQsocket(pointer), events: events, revents: 0)
            switch poll(&descriptor, 1, Int32(milliseconds.rounded(.up))) {
            case 0: return false
            case 1: return true
            default: guard errno == EINTR else { throw .connection(message: String(cString: strerror(errno))) }
            }
        }
    }
}

/// The codes of the fields of an error (postgres_ext.h), which Swift does not import, since they are characters.
private let PG_DIAG_SQLSTATE = Int32(UInt8(ascii: "C"))
private let PG_DIAG_MESSAGE_PRIMARY = Int32(UInt8(ascii: "M"))
