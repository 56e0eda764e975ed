import DocumentModel
import DocumentStore
import HearthHTTP
import TestSupport
import Testing

@Suite("Certificate of the server", .timeLimit(.minutes(10)))
struct ServerCertificateTests {
    @Test func `A certificate that cannot be used is refused with the reason, and names the part`() throws {
        let (first, second) = (try TestCertificate(), try TestCertificate())
        let expired = try TestCertificate(lifetime: .seconds(-60))
        let valid = ServerCertificateContent(chain: first.chain, key: first.key)
        let certificate = try ServerCertificate(valid)
        let expirationTime = certificate.expirationTime
        let noCertificate = "has no certificate in PEM format"
        let noKey = "no private key in PEM format"
        let contents: [(ServerCertificateContent, ServerCertificateContent.Part, String)] = [
            (.init(chain: [], key: first.key), .chain, noCertificate),
            (.init(chain: Array(first.chain.dropLast(60)), key: first.key), .chain, noCertificate),
            (.init(chain: first.chain, key: []), .key, noKey),
            (.init(chain: first.chain, key: first.chain), .key, noKey),
            (.init(chain: first.chain, key: second.key), .key, "does not belong to the first certificate"),
            (.init(chain: expired.chain, key: expired.key), .chain, "The certificate expired at "),
            (.init(chain: first.chain, key: first.key, clientAuthorities: first.key), .clientAuthorities, noCertificate),
        ]
        for (content, part, reason) in contents {
            let error = #expect(throws: ServerCertificateError.self) { try ServerCertificate(content) }
            #expect(error?.part == part && error?.message.contains(reason) == true, "\(error?.message ?? "")")
            // A replacement that fails changes nothing.
            #expect(throws: ServerCertificateError.self) { try certificate.replace(by: content) }
            #expect(certificate.expirationTime == expirationTime)
        }
    }

    @Test func `Only the first certificate must not have expired, and its expiration is reported`() throws {
        let authority = try TestCertificate(lifetime: .seconds(-60))
        let issued = try TestCertificate(issuedBy: authority)
        let certificate = try ServerCertificate(ServerCertificateContent(chain: issued.chain, key: issued.key))
        #expect(certificate.expirationTime > .current())
        let intermediateTime = try #require(certificate.intermediateExpirationTime)
        #expect(intermediateTime < .current())
        let alone = try TestCertificate()
        try certificate.replace(by: ServerCertificateContent(chain: alone.chain, key: alone.key))
        #expect(certificate.intermediateExpirationTime == nil)
    }
}
