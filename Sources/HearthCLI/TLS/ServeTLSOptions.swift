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

    @Option(
        help: ArgumentHelp(
            """
            Certificates of authorities: a PEM file. Clients must then present a certificate that one of them has issued. It only \
            lets them connect: API keys, tokens and rules decide what they may do. Read again with the certificate.
            """,
            valueName: "file"
        ),
        completion: .file()
    )
    var tlsClientCA: String?

    @Option(help: ArgumentHelp("Lowest version of TLS that clients may use: 1.2 or 1.3.", valueName: "version"))
    var tlsMinimumVersion = ServerCertificate.Version.tls12

    func validate() throws {
        guard (tlsCertificate == nil) == (tlsKey == nil) else {
            throw ValidationError("TLS requires both --tls-certificate and --tls-key.")
        }
        guard tlsClientCA == nil || tlsCertificate != nil else {
            throw ValidationError("--tls-client-ca requires --tls-certificate and --tls-key.")
        }
    }

    /// The files of the certificate; `nil` without TLS.
    var paths: CertificateFiles.Paths? {
        guard let tlsCertificate, let tlsKey else { return nil }
        return CertificateFiles.Paths(chain: tlsCertificate, key: tlsKey, clientAuthorities: tlsClientCA)
    }
}

extension ServerCertificate.Version: ExpressibleByArgument {}
