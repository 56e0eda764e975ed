/// The credential with which a program identifies itself to a server: an API key, or the ID token of the signed-in user.
///
/// An API key is for trusted programs. An ID token is for apps: the server's security rules decide what its user may read and
/// write.
///
/// ```swift
/// settings.credential = .idToken { forcingRefresh in
///     try await Auth.auth().currentUser?.getIDToken(forcingRefresh: forcingRefresh)
/// }
/// ```
///
/// Descriptions of a credential contain neither the key nor a token.
public struct FirestoreCredential: Sendable {
    /// The kinds of credentials.
    package enum Kind: Sendable {
        case key(String)
        case idToken(any IDTokenProvider)
    }

    /// The identity of a credential and its copies: providers cannot be compared.
    private final class Identity: Sendable {}

    package let kind: Kind
    private let identity = Identity()

    private init(_ kind: Kind) {
        self.kind = kind
    }

    /// Returns the credential of a program with an API key.
    public static func key(_ key: String) -> FirestoreCredential {
        FirestoreCredential(.key(key))
    }

    /// Returns the credential of the user whose ID tokens a provider returns.
    public static func idToken(_ provider: some IDTokenProvider) -> FirestoreCredential {
        FirestoreCredential(.idToken(provider))
    }

    /// Returns the credential of the user whose ID tokens a closure returns.
    ///
    /// - Parameter provider: A closure with the contract of ``IDTokenProvider/idToken(forcingRefresh:)``.
    public static func idToken(
        _ provider: @escaping @Sendable (_ forcingRefresh: Bool) async throws -> String?
    ) -> FirestoreCredential {
        FirestoreCredential(.idToken(ClosureTokenProvider(provider: provider, user: { nil })))
    }
}

extension FirestoreCredential {
    /// Returns the credential of the user whose ID and tokens closures return.
    ///
    /// - Parameters:
    ///   - userID: A closure with the contract of ``IDTokenProvider/userID``.
    ///   - provider: A closure with the contract of ``IDTokenProvider/idToken(forcingRefresh:)``.
    public static func idToken(
        of userID: @escaping @Sendable () -> String?,
        _ provider: @escaping @Sendable (_ forcingRefresh: Bool) async throws -> String?
    ) -> FirestoreCredential {
        FirestoreCredential(.idToken(ClosureTokenProvider(provider: provider, user: userID)))
    }
}

extension FirestoreCredential: Equatable {
    /// Returns whether two credentials have the same key, or are copies of one with a provider of ID tokens.
    public static func == (left: FirestoreCredential, right: FirestoreCredential) -> Bool {
        if case (.key(let left), .key(let right)) = (left.kind, right.kind) { return left == right }
        return left.identity === right.identity
    }
}

extension FirestoreCredential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind of the credential, without its secret.
    public var description: String {
        switch kind {
        case .key: "API key"
        case .idToken: "ID token"
        }
    }

    /// The kind of the credential, without its secret.
    public var debugDescription: String { description }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A source of ID tokens of the signed-in user, such as an authentication library.
public protocol IDTokenProvider: Sendable {
    /// Returns the ID token of the signed-in user; `nil` if nobody is signed in.
    ///
    /// The first call asks for a token, which all calls and listeners share until shortly before it expires, or until the server
    /// refuses it. Concurrent calls wait for the same token. When another user signs in or the user signs out, call
    /// ``Firestore/credentialDidChange()``.
    ///
    /// If an error is thrown, the waiting calls fail with ``FirestoreErrorCode/unauthenticated``, and the error is their
    /// `NSUnderlyingErrorKey`. Listeners regard it as temporary, and ask again after a delay.
    ///
    /// - Parameter forcingRefresh: True if the previous token has expired or was refused, so that it must not be returned again.
    func idToken(forcingRefresh: Bool) async throws -> String?

    /// The ID of the signed-in user, the claim `sub` of the tokens; `nil` if nobody is signed in or the ID is not known.
    ///
    /// Must not call ``Firestore``. A local cache keeps a queue of writes for each ID, and sends only that of the signed-in user. It asks when it is created, and at
    /// each ``Firestore/credentialDidChange()``. Users without an ID are taken to be different ones, also in each run of the program: what
    /// they have queued in a persistent cache is not sent by a later run.
    var userID: String? { get }
}

extension IDTokenProvider {
    /// `nil`: the ID is not known.
    public var userID: String? { nil }
}

private struct ClosureTokenProvider: IDTokenProvider {
    let provider: @Sendable (Bool) async throws -> String?
    let user: @Sendable () -> String?

    var userID: String? { user() }

    func idToken(forcingRefresh: Bool) async throws -> String? {
        try await provider(forcingRefresh)
    }
}
