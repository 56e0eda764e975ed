package import DocumentModel
import StrictJSON
import UTF8Text

/// The configuration file of the trusted issuers, in JSON.
///
/// ```json
/// {"issuers": [
///   {"issuer": "https://securetoken.google.com/my-app", "audience": ["my-app"], "algorithms": ["RS256"], "jwks": "google.jwks"},
///   {"issuer": "https://id.example.org/realms/main", "audience": ["hearth"], "algorithms": ["ES256"],
///    "jwksURL": "https://id.example.org/keys", "uid": "sub", "uidPrefix": "kc:"},
///   {"issuer": "tests", "audience": ["hearth"], "algorithms": ["HS256"], "secretFile": "tests.secret", "uidPrefix": "test:",
///    "databases": ["tests/*"]}
/// ]}
/// ```
///
/// The keys are named by one of `jwks`, `jwksURL`, `publicKey` and `secretFile`. Unknown members are errors: an ignored
/// restriction would widen access.
package struct IssuersFile: Sendable {
    /// The issuers.
    package let issuers: TokenIssuers

    /// Parses the file.
    ///
    /// - Parameters:
    ///   - bytes: The contents of the file.
    ///   - path: The path of the file, for errors.
    /// - Throws: ``StatusCode/invalidArgument`` with the path of the member, such as `issuers[1].audience`, and its source location.
    package init(_ bytes: [UInt8], path: String) throws(StatusError) {
        let json = try ConfigurationJSON(bytes, name: "The configuration of token issuers", path: path)
        do throws(IssuersFileError) {
            issuers = try Self.issuers(json.root)
        } catch {
            throw json.error("\(error.path): \(error.message)", at: error.node)
        }
    }

    private static func issuers(_ root: JSONNode) throws(IssuersFileError) -> TokenIssuers {
        let file = try ConfigurationObject(root, path: "", members: [IssuerMembers.issuers])
        let list = try file.required(IssuerMembers.issuers, "a list of issuers")
        guard let elements = list.node.elements else { throw list.error(expected: "a list of issuers") }
        var issuers: [TokenIssuer] = []
        for element in elements {
            let path = "\(IssuerMembers.issuers)[\(issuers.count)]"
            issuers.append(try TokenIssuer(ConfigurationObject(element, path: path, members: IssuerMembers.all)))
        }
        do throws(StatusError) {
            return try TokenIssuers(issuers)
        } catch {
            throw IssuersFileError(list.node, path: error.parameterPath ?? list.path, error.message)
        }
    }
}

/// The names of the members of the configuration file.
enum IssuerMembers {
    static let issuers: UTF8Key = "issuers"
    static let issuer: UTF8Key = "issuer"
    static let audience: UTF8Key = "audience"
    static let algorithms: UTF8Key = "algorithms"
    static let jwks: UTF8Key = "jwks"
    static let jwksURL: UTF8Key = "jwksURL"
    static let publicKey: UTF8Key = "publicKey"
    static let secretFile: UTF8Key = "secretFile"
    static let uid: UTF8Key = "uid"
    static let uidPrefix: UTF8Key = "uidPrefix"
    static let databases: UTF8Key = "databases"

    static let keySources = [jwks, jwksURL, publicKey, secretFile]
    static let all = [issuer, audience, algorithms] + keySources + [uid, uidPrefix, databases]
}

extension TokenIssuer {
    /// Parses one issuer of the file.
    fileprivate init(_ object: ConfigurationObject) throws(IssuersFileError) {
        let issuer = try object.required(IssuerMembers.issuer, "a string").string()
        let audiences = try object.required(IssuerMembers.audience, "a list of strings").strings().map { UTF8Key($0) }
        var algorithms: Set<SignatureAlgorithm> = []
        for member in try object.required(IssuerMembers.algorithms, "a list of algorithms").elements() {
            guard let algorithm = try SignatureAlgorithm(name: member.string()) else {
                throw member.error(expected: "one of \(SignatureAlgorithm.names)")
            }
            algorithms.insert(algorithm)
        }
        let keySource = try object.keySource()
        let uidClaim = try object.optional(IssuerMembers.uid)?.string()
        let uidPrefix = try object.optional(IssuerMembers.uidPrefix)?.nonEmptyString()
        var databases: [DatabasePattern] = []
        for member in try object.optional(IssuerMembers.databases)?.elements() ?? [] {
            let text = try member.string()
            databases.append(try member.locating { () throws(StatusError) in try DatabasePattern(text) })
        }
        if object.optional(IssuerMembers.databases) == nil { databases = [.all] }
        do throws(StatusError) {
            try self.init(
                UTF8Key(issuer),
                audiences: audiences,
                algorithms: algorithms,
                keySource: keySource,
                uidClaim: uidClaim.map { UTF8Key($0) } ?? Self.subjectClaim,
                uidPrefix: UTF8Key(uidPrefix ?? ""),
                databases: databases
            )
        } catch {
            throw object.error(error)
        }
    }
}

extension ConfigurationObject {
    fileprivate func keySource() throws(IssuersFileError) -> KeySource {
        let sources = IssuerMembers.keySources.compactMap(optional)
        guard let source = sources.first, sources.count == 1 else {
            let names = IssuerMembers.keySources.map(\.string).joined(separator: ", ")
            throw error("Expected exactly one of \(names), found \(sources.isEmpty ? "none" : "\(sources.count)").")
        }
        let text = try source.nonEmptyString()
        switch source.name {
        case IssuerMembers.jwks: return .keySetFile(text)
        case IssuerMembers.publicKey: return .publicKeyFile(text)
        case IssuerMembers.secretFile: return .secretFile(text)
        default: return .keySetURL(try source.locating { () throws(StatusError) in try HTTPSURL(text) })
        }
    }
}
