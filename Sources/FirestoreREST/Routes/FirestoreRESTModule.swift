import HTTPTypes
package import HearthAPI
package import HearthHTTP
import HummingbirdCore

/// Firestore's REST API, version 1, and the calls of its emulator, as routes of Hearth's server.
package struct FirestoreRESTModule: RouteModule {
    private let context: ServiceContext
    private let allowsClearing: Bool

    /// Creates the module.
    ///
    /// - Parameter allowsClearing: Whether `DELETE /emulator/v1/…/documents` deletes all documents, as tests for Firestore's emulator
    ///   expect.
    package init(_ context: ServiceContext, allowsClearing: Bool = false) {
        self.context = context
        self.allowsClearing = allowsClearing
    }

    package func routes(using server: ServerResources) -> [Route] {
        let calls = FirestoreRoute(context, server)
        let emulator = EmulatorRoute(context, allowsClearing: allowsClearing)
        return [
            Route(
                below: "/v1/",
                policy,
                [
                    .get: calls.respond(to:in:), .head: calls.respond(to:in:), .post: calls.respond(to:in:),
                    .patch: calls.respond(to:in:), .delete: calls.respond(to:in:),
                ]
            ),
            Route(
                below: "/emulator/v1/",
                emulatorPolicy,
                [
                    .get: emulator.respond(to:in:), .head: emulator.respond(to:in:), .put: emulator.respond(to:in:),
                    .delete: emulator.respond(to:in:),
                ]
            ),
        ]
    }

    /// The policy of the emulator's calls: by test programs only.
    private var emulatorPolicy: RoutePolicy {
        var policy = policy
        policy.isOpenToEndUsers = false
        policy.origins.crossOrigin = .firestore(methods: "DELETE, GET, HEAD, PUT")
        policy.runsOnEventLoop = false
        return policy
    }

    private var policy: RoutePolicy {
        var policy = RoutePolicy.api
        policy.isOpenToEndUsers = true
        // Firestore's clients have no sessions.
        policy.sessionCookies = .ignored
        policy.origins.crossOrigin = .firestore(methods: "DELETE, GET, HEAD, PATCH, POST")
        policy.body.maximumBytes = context.server.limits.maximumBodyBytes
        // Google's clients send their identification with every request.
        policy.body.headersAllowingText = [.xGoogAPIClient, .authorization]
        policy.errorFormat = .googleAPI
        return policy
    }
}

extension ErrorFormat {
    /// The form of Google APIs: `{"error": {"code": 404, "message": …, "status": "NOT_FOUND"}}`, in an array for a streaming method.
    fileprivate static let googleAPI = ErrorFormat { failure, request in
        failure.firestoreJSON(wrapsInArray: FirestoreCall.isStream(atPath: request.uri.path.utf8))
    }
}
