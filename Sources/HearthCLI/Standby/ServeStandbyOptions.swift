import ArgumentParser
import DocumentModel
import HearthTransport

/// The options of a standby.
struct ServeStandbyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            URL of a primary to follow. The server then is a standby: it serves reads of what the primary has committed, and refuses \
            writes until it is promoted (hearth promote).
            """,
            valueName: "url"
        )
    )
    var follow: String?

    @Option(
        help: ArgumentHelp(
            "File with a key of the primary that has the role admin, if the primary requires keys.",
            valueName: "file"
        ),
        completion: .file()
    )
    var followKey: String?

    @Option(
        help: ArgumentHelp(
            "PEM file with certificates to trust beside those of the system, for a primary with a certificate of your own authority.",
            valueName: "file"
        ),
        completion: .file()
    )
    var followCA: String?

    func validate() throws {
        guard let follow else {
            guard followKey == nil, followCA == nil else {
                throw ValidationError("--follow-key and --follow-ca require --follow.")
            }
            return
        }
        do {
            _ = try ServerAddress(follow)
        } catch {
            throw ValidationError("--follow: \(error.message)")
        }
    }

    /// The address of the primary; `nil` without one.
    var primary: ServerAddress? {
        get throws(StatusError) { try follow.map { url throws(StatusError) in try ServerAddress(url) } }
    }
}
