package import DocumentModel
import HearthWire
package import JSONRPC
import UTF8Text

/// A method that changes the targets of an open watch stream.
package protocol WatchTargetsMethod: RPCMethod where Context == ServiceContext, Params == WatchTargetsParams<Target> {
    /// The part of each target that the method takes.
    associatedtype Target: ParameterValue & Sendable

    static var targets: Parameter<[Target]> { get }

    /// Returns the change for a target; `nil` for one that no stream has.
    static func change(_ target: Target) -> WatchTargetChange?
}

/// The parameters of a ``WatchTargetsMethod``.
package struct WatchTargetsParams<Target: Sendable>: Sendable {
    let stream: UTF8Key
    let targets: [Target]
}

extension WatchTargetsMethod {
    private static var stream: Parameter<String> {
        Parameter(WatchRequestKeys.stream, "The ID of the stream, from its first frame.")
    }

    package static var requiredPermission: Permission { .readDocuments }
    package static var parameters: [any ParameterDescription] { [stream, targets] }
    package static var result: ResultDescription { ResultDescription("nothing", .object([]), "An empty object.") }
    package static var errors: [ErrorDescription] {
        [
            ErrorDescription(status: .notFound, "The caller has no open stream with this ID. Open another one with all targets."),
            ErrorDescription(status: .resourceExhausted, "Changes of more than 8 MiB wait for the stream."),
        ]
    }

    package static func params(from arguments: Arguments) throws -> Params {
        Params(stream: UTF8Key(try arguments[stream]), targets: try arguments[targets])
    }

    package static func call(_ params: Params, in context: ServiceContext) throws(StatusError) {
        try context.watchStreams.request(
            params.targets.compactMap { change($0) },
            of: params.stream,
            for: context.caller.identity
        )
    }
}
