internal import DocumentModel

/// A failure of the engine, or of the connection to it: the cause of a ``StatusError``.
enum EngineError: Error, Sendable {
    /// A statement failed with a code, as of PostgreSQL's appendix A ("SQLSTATE").
    case statement(code: String, message: String)
    /// There is no connection, or it was lost; the outcome of statements that were sent is unknown.
    case connection(message: String)
    /// A statement took too long, and its connection was closed; its outcome is unknown.
    case timeout

    /// True if the whole transaction can be tried again at once: it lost a race with another one.
    var isConflict: Bool {
        guard case .statement(let code, _) = self else { return false }
        return ["40001", "40P01"].contains(code)
    }

    /// True if the connection is of no more use.
    var isConnectionLost: Bool {
        switch self {
        case .connection, .timeout: true
        // Administrator shutdown, crash of another process, start-up; connection exceptions; a transaction without a statement for too long.
        case .statement(let code, _): code.hasPrefix("57P0") || code.hasPrefix("08") || code == Self.idle
        }
    }

    /// The code with which the engine ends the connection of a server that stood still in a transaction.
    private static let idle = "25P03"

    /// The error of a statement whose values exceed the maximum size of a message.
    static let tooLarge = EngineError.statement(code: "54000", message: "The values of a statement are too large.")

    /// True if the statement may have been executed.
    var isOutcomeUnknown: Bool {
        if case .statement(let code, _) = self { return code == "40003" || isConnectionLost }
        return true
    }

    /// The error that a client sees, which names no host and no data.
    var status: StatusError {
        StatusError(code, text, cause: self)
    }

    private var code: StatusCode {
        switch self {
        case .connection, .timeout: .unavailable
        case .statement(let code, _):
            switch code {
            case "53100", "53200": .resourceExhausted
            case "42501", "28000", "28P01", "3D000", "3F000", "42P01": .failedPrecondition
            case "54000": .invalidArgument
            case let code where ["08", "40", "53", "55", "57"].contains(code.prefix(2)): .unavailable
            case "25006", Self.idle: .unavailable
            default: .internal
            }
        }
    }

    private var text: String {
        switch self {
        case .connection:
            return "The database engine cannot be reached. Try again; if it persists, check the engine and its address."
        case .timeout:
            return "The database engine did not answer in time. Try again; if it persists, check the load of the engine."
        case .statement(let code, _):
            let reason =
                switch code {
                case "53100": "The disk of the database engine is full. Delete what is not needed there, or add space."
                case "53200": "The database engine is out of memory."
                case "42501":
                    "The user of the database engine lacks a right. Grant it the rights on all tables of the schema hearth, or let their "
                        + "owner run: hearth engine migrate"
                case "28000", "28P01": "The database engine refused the user or the password. Check the URL and PGPASSWORD."
                case "3D000": "The database of the engine does not exist. Create it there, for example with createdb."
                case "3F000", "42P01": "The engine has no tables of Hearth. Make them with: hearth engine migrate"
                case "25006": "The database engine is read-only: it is a standby, or is being replaced. Try again."
                case Self.idle: "This server stood still, so that the database engine ended its transaction. Try again."
                case "54000": "The commit exceeds a limit of the database engine."
                case let code where code.hasPrefix("40"): "The database engine had too many conflicts. Try again."
                case let code where code.hasPrefix("53"): "The database engine has no resources left. Try again later."
                case let code where code.hasPrefix("57") || code.hasPrefix("08"):
                    "The database engine is stopping or starting. Try again."
                default: "The database engine failed."
                }
            return "\(reason) (SQLSTATE \(code))"
        }
    }
}

extension StatusError {
    /// The failure of the engine that caused the error; `nil` for another cause.
    var engineError: EngineError? { cause as? EngineError }
}
