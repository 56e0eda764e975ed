import ArgumentParser
import HearthHTTP

/// Options of `hearth serve` for TLS.
struct ServeTLSOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Certificate for TLS: a PEM file with the server's certificate, followed by those of intermediate authorities. Read again \
            when it or the key changes, and on SIGHUP.
            """,
            valueName: "file"
        ),
        completion: .file()
    )
    var tlsCertificate: String?

    @Option(help: ArgumentHelp("Private key of the certificate: a PEM file.", valueName: "file"), completion: .file())
    var tlsKey: String?

    @Option(help: ArgumentHelp("Lowest version of TLS that clients may use: 1.2 or 1.3.", valueName: "version"))
    var tlsMinimumVersion = ServerCertificate.Version.tls12

    func validate() throws {
        guard (tlsCertificate == nil) == (tlsKey == nil) else {
            throw ValidationError("TLS requires both --tls-certificate and --tls-key.")
        }
    }
}

extension ServerCertificate.Version: ExpressibleByArgument {}
