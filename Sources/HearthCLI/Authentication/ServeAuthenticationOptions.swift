import ArgumentParser
import DocumentModel
import IdentityTokens
import UTF8Text

/// Options of `hearth serve` for end users: the issuers of their tokens, and the rules that decide about them.
struct ServeAuthenticationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Security rules for databases without a firestore.rules in their folder. Read again when the file changes.",
            valueName: "file"
        )
    )
    var rules: String?

    @Option(
        help: ArgumentHelp(
            "Firebase project whose users may sign in with their ID tokens. Their keys are fetched from Google.",
            valueName: "project"
        )
    )
    var authFirebaseProject: String?

    @Option(
        help: ArgumentHelp(
            """
            JSON file with the issuers of ID tokens, such as {"issuers": [{"issuer": "https://id.example.org", "audience": \
            ["hearth"], "algorithms": ["RS256"], "jwks": "keys.json"}]}.
            """,
            valueName: "file"
        )
    )
    var authIssuers: String?

    @Flag(
        inversion: .prefixedNo,
        help: """
            Behave as Firestore's emulator, for tests: callers without credentials are end users who are not signed in, unsigned \
            tokens are accepted, Bearer owner may do everything, and test programs may replace the rules. On loopback addresses only.
            """
    )
    var emulator = false

    /// True if callers without a key are end users, whatever the data folder has.
    var limitsAccess: Bool { rules != nil || authFirebaseProject != nil || authIssuers != nil }

    func validate() throws {
        do throws(StatusError) {
            _ = try firebaseIssuer
        } catch {
            throw ValidationError("--auth-firebase-project: \(error.message)")
        }
    }

    /// The issuer of the users of the Firebase project.
    var firebaseIssuer: TokenIssuer? {
        get throws(StatusError) {
            try authFirebaseProject.map { project throws(StatusError) in try .firebase(project: UTF8Key(project)) }
        }
    }
}
