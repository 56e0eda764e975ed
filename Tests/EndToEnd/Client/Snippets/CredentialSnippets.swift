import HearthClient

// Examples of the documentation; see MappingSnippets.

enum CredentialSnippets {
    /// The account of the user of an app.
    struct Account: Sendable {
        func idToken(forcingRefresh: Bool) async throws -> String? {
            nil
        }

        func onUserChange(_ action: () -> Void) {
            action()
        }
    }

    static func signIn(_ account: Account) -> Firestore {
        let settings = FirestoreSettings()
        settings.credential = .idToken { forcingRefresh in
            try await account.idToken(forcingRefresh: forcingRefresh)
        }
        let db = Firestore(settings: settings)
        account.onUserChange { db.credentialDidChange() }
        return db
    }
}
