package import DocumentModel
import HearthWire
package import JSONRPC
import UTF8Text

/// A change of the targets of a watch stream with several targets, as its client requests it.
package enum WatchTargetChange: Sendable {
    case add(ListenTarget)
    /// The client has requested an invalid target, which ends alone.
    case reject(id: Int32, StatusError)
    case remove(id: Int32)

    /// The approximate size of the request.
    var byteCount: Int {
        if case .add(let target) = self { 256 + target.byteCount } else { 256 }
    }
}

extension ListenSession {
    /// Carries out a change.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if the stream has a target with the ID of a new one, which ends the stream.
    package func apply(_ change: WatchTargetChange) throws(StatusError) -> [ListenMessage] {
        switch change {
        case .add(let target):
            return try add(target)
        case .reject(let id, let error):
            guard !hasTarget(id) else { throw .duplicateTarget(id) }
            return [.removed(target: id, cause: error)]
        case .remove(let id):
            return remove(id)
        }
    }
}

/// A target that a client adds to a watch stream: an ID, what it watches, and what to resume from.
package struct WatchTargetParameter: ObjectParameter {
    /// The change that adds the target.
    package let change: WatchTargetChange

    static let id = Parameter<Int>(WatchTargetKeys.id, "The ID of the target in the frames of the stream, 1 to 2147483647.")
    static let resume = Parameter<String?>(
        WatchRequestKeys.resume,
        "The token of a frame of any stream with several targets, to continue after. The target is reset if the token no longer holds."
    )
    static let resumeTime = Parameter<Timestamp?>(
        WatchTargetKeys.resumeTime,
        "Instead of a token, the time as of which the client has the result, to continue from: the readTime of a query. The target is "
            + "reset if the history after it is no longer retained."
    )
    static let expectedCount = Parameter<Int?>(
        WatchTargetKeys.expectedCount,
        "The number of documents that the client has. The target is reset if that was not the number at the time to continue from: the "
            + "client has the result of another history."
    )

    package static let schemaName = "WatchedTarget"
    package static let members: [any ParameterDescription] =
        [id] + PreparedWatchTarget.parameters + [resume, resumeTime, expectedCount]

    package init(from members: Arguments) throws(RPCError) {
        let number = try members[Self.id]
        guard number > 0, let id = Int32(exactly: number) else {
            throw .invalidParams(
                at: "\(members.location(of: Self.id))",
                reason: "expected 1 to \(Int32.max)",
                got: "\(number)"
            )
        }
        let (token, time) = (try members[Self.resume], try members[Self.resumeTime])
        let expectedCount = try members[Self.expectedCount]
        do throws(RPCError) {
            if token != nil, time != nil {
                throw .invalidParams(
                    at: "\(members.location(of: Self.resumeTime))",
                    reason: "expected resume or resumeTime",
                    got: "both"
                )
            }
            let target = try PreparedWatchTarget(from: members)
            change = .add(
                ListenTarget(
                    id: id,
                    try members.location.locatingErrors { () throws(StatusError) in try target.listenSource },
                    resume: token.map { .token(ResumeToken($0)) } ?? time.map { .time($0) },
                    expectedCount: expectedCount,
                    isResetOnMismatch: true,
                    byteCount: members.byteCount
                )
            )
        } catch {
            // The other targets of the stream are not affected.
            change = .reject(id: id, StatusError(error))
        }
    }
}

extension PreparedWatchTarget {
    fileprivate var listenSource: ListenTarget.Source {
        get throws(StatusError) {
            switch self {
            case .document(let path): .documents([path])
            case .collection(let path):
                .query(
                    try PreparedWatchQuery(
                        listener: NormalizedQuery(StructuredQuery(.collection(path))),
                        text: canonicalText.utf8
                    )
                )
            case .query(let watched): .query(watched.forListeners)
            }
        }
    }
}

extension StatusError {
    /// Creates the error of a part of a call whose other parts are carried out.
    fileprivate init(_ error: RPCError) {
        self.init(error.statusCode, error.message)
    }
}
