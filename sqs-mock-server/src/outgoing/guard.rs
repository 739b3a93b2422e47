//! Where requests of this server may go.
//!
//! A server that posts to any address it is told could reach services that trust their network. So only loopback addresses
//! are allowed, and what a setting adds. The check is made for the addresses to which a name resolves, not for its text:
//! names can resolve to any address, and numbers can be spelled in many ways.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;

/// The word for all private networks.
const PRIVATE: &str = "private";

/// What a setting allows besides loopback addresses.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Destinations {
    /// In lower case.
    hosts: Vec<Box<str>>,
    networks: Vec<IpNet>,
    allows_private: bool,
}

impl Destinations {
    /// Reads host names, networks such as `10.0.0.0/8`, addresses, and the word `private`.
    ///
    /// # Errors
    /// The position of a text that is none of these, and why.
    pub(crate) fn parse(texts: &[String]) -> Result<Self, (usize, String)> {
        let mut parsed = Self::default();
        for (at, text) in texts.iter().enumerate() {
            if text == PRIVATE {
                parsed.allows_private = true;
            } else if let Ok(network) = text.parse::<IpNet>() {
                parsed.networks.push(network);
            } else if let Ok(address) = text.parse::<IpAddr>() {
                parsed.networks.push(address.into());
            } else if is_host_name(text) {
                parsed.hosts.push(name(text).into());
            } else {
                return Err((
                    at,
                    format!(
                        "{text:?} is not allowed; allowed are a host name such as \"hooks\", an address, a network such \
                         as \"10.0.0.0/8\", and \"private\""
                    ),
                ));
            }
        }
        Ok(parsed)
    }

    /// Checks the addresses to which a host resolves. One that is not allowed is enough to refuse it: nobody knows to which
    /// of them a request would go.
    ///
    /// # Errors
    /// An address is not allowed.
    pub(crate) fn check(&self, host: &str, addresses: &[IpAddr]) -> Result<(), NotAllowed> {
        let is_named = self.hosts.iter().any(|allowed| **allowed == *name(host));
        for given in addresses {
            // The mapped form is the only one that the system itself connects to as IPv4.
            let address = given.to_canonical();
            let is_never = is_never(address);
            if is_never || !(is_named || self.allows(address)) {
                return Err(NotAllowed { host: host.into(), address: *given, is_never });
            }
        }
        Ok(())
    }

    fn allows(&self, address: IpAddr) -> bool {
        address.is_loopback()
            || (self.allows_private && is_private(address))
            || self.networks.iter().any(|network| network.contains(&address))
    }
}

/// An address to which this server sends nothing.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct NotAllowed {
    host: Box<str>,
    address: IpAddr,
    /// Whether no setting can allow it.
    is_never: bool,
}

impl fmt::Display for NotAllowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, address, is_never } = self;
        if **host == *address.to_string() {
            f.write_str(host)?;
        } else {
            write!(f, "{host} resolves to {address}, which")?;
        }
        if *is_never {
            f.write_str(" is never allowed")
        } else {
            f.write_str(
                " is not allowed; allowed are loopback addresses and those of --deliver-to, deliver_to in the config \
                 file, or MockSqs::builder().deliver_to(..)",
            )
        }
    }
}

/// A name without its case and the dot at its end.
fn name(host: &str) -> String {
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

fn is_host_name(text: &str) -> bool {
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    let is_label = |label: &str| (1..=63).contains(&label.len());
    // Nothing but numbers and dots is an address, possibly with a spelling mistake.
    let has_letter = text.bytes().any(|byte| byte.is_ascii_alphabetic());
    has_letter && text.len() <= 253 && text.bytes().all(is_legal) && name(text).split('.').all(is_label)
}

/// The IPv4 address in an IPv6 address that some gateway or tunnel translates.
fn embedded(v6: Ipv6Addr) -> Option<Ipv4Addr> {
    let v4 = |high: u16, low: u16| Some(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)));
    match v6.segments() {
        // The deprecated compatible form and the translated one (RFC 4291, RFC 2765), NAT64 (RFC 6052, RFC 8215), 6to4 (RFC
        // 3056), and ISATAP (RFC 5214).
        [0, 0, 0, 0, 0 | 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0 | 1, _, _, _, high, low]
        | [0x2002, high, low, ..]
        | [_, _, _, _, 0 | 0x200, 0x5efe, high, low] => v4(high, low),
        // Teredo (RFC 4380).
        [0x2001, 0, _, _, _, _, high, low] => v4(!high, !low),
        _ => None,
    }
}

/// Addresses that give credentials to whoever asks, or that are no address of one machine.
fn is_never(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            v4.is_link_local()
                || v4.is_multicast()
                || v4.is_broadcast()
                || v4.octets()[0] == 0
                || METADATA_V4.contains(&v4)
        }
        IpAddr::V6(v6) if v6 == Ipv6Addr::LOCALHOST => false,
        IpAddr::V6(v6) => {
            // fd00:ec2::/32 has the metadata and the credentials of Amazon EC2 and ECS.
            v6.segments()[..2] == [0xfd00, 0xec2]
                || METADATA_V6.contains(&v6)
                || v6.is_unicast_link_local()
                || v6.is_multicast()
                || v6 == Ipv6Addr::UNSPECIFIED
                || embedded(v6).is_some_and(|v4| is_never(v4.into()))
        }
    }
}

/// Metadata of Alibaba Cloud and Oracle Cloud, and the host of virtual machines in Azure.
const METADATA_V4: [Ipv4Addr; 3] =
    [Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(192, 0, 0, 192), Ipv4Addr::new(168, 63, 129, 16)];

/// Metadata of Google Cloud and Scaleway.
const METADATA_V6: [Ipv6Addr; 2] =
    [Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254), Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42)];

fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => v4.is_private(),
        IpAddr::V6(v6) => v6.is_unique_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn destinations(texts: &[&str]) -> Destinations {
        let texts: Vec<_> = texts.iter().map(|text| (*text).to_owned()).collect();
        Destinations::parse(&texts).unwrap()
    }

    fn allows(settings: &[&str], host: &str, addresses: &[&str]) -> bool {
        let addresses: Vec<IpAddr> = addresses.iter().map(|address| address.parse().unwrap()).collect();
        destinations(settings).check(host, &addresses).is_ok()
    }

    #[test]
    fn loopback_addresses_are_allowed_in_every_spelling() {
        for address in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            assert!(allows(&[], "localhost", &[address]), "{address}");
        }
        // Gateways and tunnels would take the last ones elsewhere.
        let others = ["::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::1", "2001:0:1::80ff:fffe"];
        for address in
            ["10.0.0.1", "192.168.1.1", "8.8.8.8", "::ffff:8.8.8.8", "fd00::1"].into_iter().chain(others)
        {
            assert!(!allows(&[], "localhost", &[address]), "{address}");
        }
    }

    #[test]
    fn metadata_addresses_are_never_allowed() {
        let all = ["0.0.0.0/0", "::/0", "private", "metadata"];
        for address in [
            "169.254.169.254",
            "169.254.170.2",
            "::ffff:169.254.169.254",
            "::169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "2002:a9fe:a9fe::1",
            "fd00:ec2::254",
            "fd00:ec2::23",
            "fe80::1",
            "0.0.0.0",
            "::",
            "0.1.2.3",
            "224.0.0.1",
            "ff02::1",
            "255.255.255.255",
            "100.100.100.200",
            "168.63.129.16",
            "192.0.0.192",
            "fd20:ce::254",
            "fd00:42::42",
            "64:ff9b:1::a9fe:a9fe",
            "::ffff:0:169.254.169.254",
            "2001:0:1::5601:5601",
            "fd12::5efe:169.254.169.254",
        ] {
            assert!(!allows(&all, "metadata", &[address]), "{address}");
        }
        assert!(allows(&all, "metadata", &["8.8.8.8", "2001:4860:4860::8888"]));
    }

    #[test]
    fn one_forbidden_address_is_enough_to_refuse_a_host() {
        assert!(allows(&[], "a", &["127.0.0.1", "::1"]));
        assert!(!allows(&[], "a", &["127.0.0.1", "8.8.8.8"]));
        assert!(!allows(&["a"], "a", &["8.8.8.8", "169.254.169.254"]));
    }

    #[test]
    fn settings_allow_names_networks_and_private_addresses() {
        assert!(allows(&["Hooks"], "hooks.", &["8.8.8.8"]));
        assert!(!allows(&["hooks"], "hooks.example.com", &["8.8.8.8"]));
        assert!(allows(&["10.0.0.0/8"], "a", &["10.1.2.3", "::ffff:10.1.2.3"]));
        assert!(!allows(&["10.0.0.0/8"], "a", &["11.1.2.3"]));
        assert!(allows(&["192.0.2.7"], "a", &["192.0.2.7"]));
        for address in ["10.0.0.1", "172.16.0.1", "192.168.0.1", "fd12::1"] {
            assert!(allows(&["private"], "a", &[address]), "{address}");
        }
        assert!(!allows(&["private"], "a", &["8.8.8.8"]));
    }

    #[test]
    fn texts_that_are_no_destination_are_rejected() {
        for text in ["", "10.0.0.0/40", "1.2.3", "http://hooks", "a b", "hooks:80", "*.example.com", "a..b"] {
            let (at, why) = Destinations::parse(&["a".to_owned(), text.to_owned()]).unwrap_err();
            assert!(at == 1 && why.starts_with(&format!("{text:?} is not allowed")), "{why}");
        }
    }
}
