internal import CLibPQ
package import DocumentModel
internal import UTF8Text

/// The address of an engine: a URL as libpq takes it, with one or several hosts and its other parameters.
///
/// It holds no password: libpq takes that from `PGPASSWORD` or from a password file
/// (https://www.postgresql.org/docs/15/libpq-pgpass.html).
package struct EngineAddress: Sendable {
    /// The parameters of libpq in their order; later ones take precedence.
    let options: [(name: String, value: String)]
    /// The hosts, ports and the database, for logs.
    package let description: String

    /// Parses a URL, such as `postgresql://hearth@db1,db2/hearth?target_session_attrs=read-write`.
    ///
    /// - Throws: `.invalidArgument` when it is none, or has a password.
    package init(_ url: String) throws(StatusError) {
        guard url.utf8.starts(with: "postgresql://".utf8) || url.utf8.starts(with: "postgres://".utf8) else {
            throw StatusError(
                .invalidArgument,
                "The engine is not a URL of PostgreSQL. Expected: postgresql://USER@HOST/DATABASE"
            )
        }
        guard let parsed = PQconninfoParse(url, nil) else {
            // libpq's reason would quote the URL.
            throw StatusError(
                .invalidArgument,
                "The engine's URL cannot be parsed. Expected: postgresql://USER@HOST/DATABASE?PARAMETER=VALUE"
            )
        }
        defer { PQconninfoFree(parsed) }
        var values: [String: String] = [:]
        var option = parsed
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { values[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        guard values["sslpassword"] == nil else {
            throw StatusError(
                .invalidArgument,
                "The engine's URL has the password of a key, which other users of this machine could see. Remove it, and put it into a "
                    + "connection service file that the parameter service names, or use a key without a password."
            )
        }
        guard values["password"] == nil else {
            throw StatusError(
                .invalidArgument,
                "The engine's URL has a password, which other users of this machine could see. Remove it, and put it into the "
                    + "environment variable PGPASSWORD, or into a password file that the parameter passfile names."
            )
        }
        // The URL takes precedence over the defaults before it.
        options = [
            ("application_name", "hearth"), ("connect_timeout", "5"), ("tcp_user_timeout", "15000"), ("keepalives_idle", "10"),
            ("keepalives_interval", "5"), ("keepalives_count", "3"), ("dbname", url), ("client_encoding", "UTF8"),
        ]
        let hosts = (values["host"] ?? values["hostaddr"] ?? "local").split(separator: ",").map(String.init)
        let ports = (values["port"] ?? "5432").split(separator: ",").map(String.init)
        let list = hosts.enumerated().map { index, host in "\(host):\(ports.count > index ? ports[index] : ports.first ?? "5432")"
        }
        description = list.joined(separator: ",") + "/" + (values["dbname"] ?? "")
    }
}
